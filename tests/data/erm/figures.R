# Figures of the R package eRm for right.csv and marks.csv, which numpy drew (seed 23):
#     Rscript figures.R > figures.json
suppressMessages(library(eRm))
show <- function(name, values) cat(sprintf('  "%s": [%s],\n', name, paste(sprintf("%.9f", values), collapse = ", ")))
right <- as.matrix(read.csv("right.csv", header = FALSE))
marks <- as.matrix(read.csv("marks.csv", header = FALSE))
cat(sprintf('{\n  "version": "eRm %s",\n', packageVersion("eRm")))
model <- RM(right)
for (split in c("median", "mean")) {
  test <- suppressWarnings(LRtest(model, splitcr = split)); show(paste0("andersen_", split), c(test$LR, test$df, test$pvalue))
  show(paste0("wald_", split), suppressWarnings(Waldtest(model, splitcr = split))$coef.table[, 1])
  test <- MLoef(model, splitcr = split); show(paste0("martin_loef_", split), c(test$LR, test$df, test$p.value))
}
for (name in c("PCM", "RSM")) {
  model <- get(name)(marks)
  show(paste0(name, "_log_likelihood"), model$loglik)
  show(paste0(name, "_thresholds"), t(thresholds(model)$threshtable[[1]][, -1]))
  show(paste0(name, "_errors"), thresholds(model)$se.thresh)
  persons <- person.parameter(model)
  show(paste0(name, "_persons"), persons$thetapar[[1]])
  show(paste0(name, "_person_errors"), persons$se.theta[[1]])
}
cat('  "end": []\n}\n')
