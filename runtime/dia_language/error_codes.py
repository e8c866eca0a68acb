"""Every error code: a short title, and what it means and how to mend it."""

from __future__ import annotations

GROUPS: dict[str, str] = {
    "E1": "Reading files",
    "E2": "The shape of a spec",
    "E3": "Expressions, templates and names",
    "E4": "Types of parameters and answers",
    "E5": "Making instances",
    "E6": "Writing output",
    "E7": "Bundles",
    "E8": "Runs and scores",
    "E9": "Bugs of dia",
}

CODES: dict[str, tuple[str, str]] = {
    # Reading files
    "E101": (
        "a file that cannot be had",
        "A path names no file or no folder of specs, leaves the spec folder, or cannot be read. Name a folder with a "
        "`benchmark.yaml`, and keep lists and catalogs inside that folder.",
    ),
    "E102": ("not UTF-8", "The file holds bytes that are no UTF-8 text. Save it as UTF-8."),
    "E103": (
        "a file that is too large",
        "A spec or a list file is larger than 1 MiB, or a data file larger than 100 MB. Split it.",
    ),
    "E104": (
        "not YAML",
        "YAML cannot read the file at this place. Most often an expression holds `: `, ` #` or begins with one of "
        "`[ { \" ' * & ! % @ > | -`: put the whole value in quotes, or on lines of its own after `|`.",
    ),
    "E105": ("a duplicate key", "A key stands twice in one mapping. Keep one of the two."),
    "E106": (
        "a part of YAML that the language does not have",
        "Tags, anchors, aliases and merge keys are refused. Write the value out, or share it through `types` and "
        "`lists`; quote a text that begins with `!`, `&` or `*`.",
    ),
    "E107": (
        "a file that is too deep or has too many parts",
        "The file nests more than 64 levels or has more than 20,000 nodes. Put long lists in a list file.",
    ),
    "E108": (
        "a character that nobody sees",
        "The file holds a control character or one that changes the direction of writing. Remove it, or write it as "
        "an escape in double quotes.",
    ),
    "E109": (
        "a number that is none",
        "A number begins with 0, is infinite, or has more than 4,000 digits. Quote it if it is text; build a long "
        "number by an expression such as `= 10**5000`.",
    ),
    "E110": ("no document, or a second one", "A spec file holds exactly one YAML document."),
    "E111": (
        "a data file that cannot be read as it stands",
        "A data file is no JSON Lines, CSV or Parquet, has a row that differs in shape or repeats another, lacks a "
        "column that is asked for, or has more than 500,000 rows or 2,500,000 values. The message names the line.",
    ),
    # The shape of a spec
    "E201": (
        "an unknown key",
        "The key, or the face of a catalog, is not known here. The message names the closest key or all of them.",
    ),
    "E202": ("something is missing", "A required key, face or option of a type is missing. Add it."),
    "E203": (
        "a value of another kind",
        "The value has the wrong shape: a list where text is wanted, a number where a condition is wanted. The "
        "message says what the place takes.",
    ),
    "E204": (
        "a value that is not allowed",
        "The place takes some words only, or text of one pattern: ids are small letters, digits and `_`. The message "
        "names them.",
    ),
    "E206": (
        "a template that needs what is not here",
        "The template's `requires` names an extra, a file or a tool that this machine lacks, and it was asked for by "
        "name or with `--strict`; or it reads a .parquet file without `requires: {extra: parquet}`. Install what is "
        "named; a whole benchmark is compiled without the template otherwise.",
    ),
    "E207": (
        "a plug-in that cannot be used",
        "An installed package offers a function, type, builder, format or exporter that does not load, has the name of "
        "another one, or lacks what it must have. The message names the package.",
    ),
    # Expressions, templates and names
    "E301": (
        "not an expression",
        "The text breaks Python's grammar of expressions, or is empty. The caret stands where reading stopped.",
    ),
    "E302": (
        "an expression that the language does not have",
        "Attributes, methods, lambdas, statements and names that begin with `_` are not part of the language, nor are "
        "expressions beyond 20,000 characters or too deep a nesting. Use functions, and split with `let`.",
    ),
    "E303": (
        "an unknown name",
        "No parameter, `let` value, list, catalog or constant has this name. The message names the closest one. A "
        "function must be called: `f(x)`.",
    ),
    "E304": (
        "an unknown function",
        "Neither the library nor the spec has a function of this name. `dia functions` lists the library. There is "
        "no `random`: use a parameter.",
    ),
    "E305": (
        "a wrong number of arguments",
        "The call has too few or too many arguments, or names them. The message shows the signature.",
    ),
    "E306": (
        "an expression that YAML has eaten",
        "YAML took a part of the expression for a list, a mapping, a second key or a comment. Put the whole "
        "expression in quotes, or on lines of its own after `|`.",
    ),
    "E307": (
        "a circle, or a value that is needed too early",
        "Values, functions or types are made of each other, or a parameter needs one that is drawn after it. Put the "
        "needed parameter first.",
    ),
    "E308": (
        "a leak of the answer",
        "A prompt, a condition on parameters or the answer itself depends on `answer`. Remove it there.",
    ),
    "E309": (
        "a reserved name",
        "`answer`, `reply`, `it`, `index`, `true`, `false` and `none` have a meaning of their own. Choose another.",
    ),
    "E310": (
        "a name that is taken",
        "Two things of one template, or two templates of one benchmark, have the same name. Rename one.",
    ),
    "E311": (
        "not a template",
        "A prompt or explanation breaks the grammar of templates. Write braces that are text as `{{ '{{' }}`, or "
        "between `{% raw %}` and `{% endraw %}`.",
    ),
    "E312": (
        "a template that the language does not have",
        "Arithmetic, decimals, methods, `set`, `include`, macros and tests with `is` do not stand in templates, nor "
        "may one be longer than 100,000 characters. Compute under `let`.",
    ),
    "E313": (
        "a template in `accept_if`",
        "`accept_if` reaches a macro or a face that is a template; a grader evaluates expressions only. Make it an "
        "expression.",
    ),
    "E314": (
        "a program that may not run",
        "`program` and `run_elf` start programs: for the specs that come with dia, and for others with "
        "`--allow-programs` alone; in `accept_if` and `share` never, since a grader starts none.",
    ),
    "E315": (
        "a reply that is not there yet",
        "Sessions wait for each other's replies in a circle, or a turn uses the reply to itself or to a later turn. A "
        "session reads replies of others only when these have ended.",
    ),
    "E316": (
        "a reply that nothing reads",
        "A named reply is used by no turn, no truth and no figure. Use it, or leave its `reply` out.",
    ),
    "E317": (
        "a reply that may not be there",
        "A `when` may leave the reply out, and it is used without a question. Ask first: `x if answered(x) else ...`; "
        "or use it behind the same `when`.",
    ),
    "E318": (
        "a reply that is needed too early",
        "Parameters, conditions, assets, slots, variants, formats and keys of `share` are made before anything is "
        "asked, and cannot depend on a reply.",
    ),
    # Types of parameters and answers
    "E401": (
        "an unknown type",
        "No parameter type has this name, or this version does not have it yet. `dia types` lists them.",
    ),
    "E402": ("an unknown option of a type", "The parameter type does not take this option. The message names those."),
    "E403": (
        "an option that cannot be",
        "The options of a parameter type contradict each other or leave no value: `min` above `max`, an empty list, "
        "more different elements than there are values.",
    ),
    "E404": (
        "an answer type that cannot be",
        "The answer's `type` or its options are unknown or do not fit together. The message says which.",
    ),
    "E405": (
        "a parameter that makes no items",
        "`each` names a parameter whose values can be listed and depend on nothing that is drawn: a row of a file, a "
        "choice, an integer between bounds.",
    ),
    "E406": ("an unknown asset builder", "No asset builder has this name. The message lists those that there are."),
    "E407": ("an unknown option of a builder", "The asset builder does not take this option. The message names those."),
    "E408": (
        "an artefact that cannot be built",
        "An option of an asset builder cannot be, or what is to be built does not fit: a text too long for a QR code, "
        "a font that is not shipped, a password that the format cannot hold, a source that does not compile.",
    ),
    "E409": (
        "a reply format that cannot be",
        "The `format` of a turn's reply is unknown, or its options do not fit. The message says which.",
    ),
    # Making instances
    "E501": (
        "an evaluation that failed",
        "An expression or function was given what it does not take: text for a number, an index beyond the end. The "
        "message shows the parameters of the instance.",
    ),
    "E502": (
        "beyond a limit",
        "A value grew beyond its size limit, or an evaluation beyond its steps, seconds or memory. Make the work "
        "smaller, or raise `limits` of the template.",
    ),
    "E503": (
        "a check that does not hold",
        "A line of `checks` is false for an instance: the solver or the check is wrong. Nothing is written.",
    ),
    "E504": (
        "no such value",
        "The result does not exist or is not a finite exact number: a division by zero, no inverse, no closed form. "
        "Rule such parameters out with `where`.",
    ),
    "E505": (
        "too few distinct instances",
        "The template cannot make k different instances. Widen a parameter, or loosen a `where`.",
    ),
    "E506": (
        "two instances with one text",
        "Two instances differ in their parameters but ask the same question. Break the symmetry with a `where` such "
        "as `a <= b`, or show every parameter in the prompt.",
    ),
    "E507": (
        "an example that does not come out",
        "A worked example has another answer, verdict or domain than it says. Mend the example or the template.",
    ),
    "E508": (
        "a failed round trip",
        "The runtime's own grader does not take the answer as correct, the skip token as skipped or a named mistake as "
        "wrong. Mend the answer's options, `accept_if` or the skip token.",
    ),
    "E510": (
        "options that cannot be told apart",
        "Two options of a multiple choice read alike, or one is empty. Distractors must differ from the right option "
        "and from each other.",
    ),
    "E511": (
        "a variant with another answer",
        "A variant says the same instance in other words, so its answer must be the same. What the answer depends on "
        "cannot be drawn again.",
    ),
    "E512": (
        "a reply that is not there",
        "An expression or template uses a reply that never came, or that could not be read. Ask first whether it is "
        "there: `x if answered(x) else ...`.",
    ),
    # Writing output
    "E600": ("an argument that cannot be", "A number or word of the command line is outside what the option takes."),
    "E601": (
        "an output that may not be replaced",
        "Something else lies where the bundle goes. `-o` chooses another folder, `--force` replaces what is there.",
    ),
    "E602": ("an output that cannot be written", "The disk is full or the folder cannot be written. Use `-o`."),
    "E603": (
        "what the system refuses",
        "A name is too long, a disk is full, a folder is closed, or too many files are open. The message says which.",
    ),
    "E605": (
        "defaults that cannot be read",
        "`dia.toml`, or `[tool.dia]` of pyproject.toml, is no TOML, or names a command or option that there is not.",
    ),
    "E610": ("no part here", "`dia merge` joins folders that `dia compile --part` made, or runs. Name those."),
    "E611": (
        "a damaged part",
        "A file of the part is missing, or has other bytes than its `part.json` says. Make this part again.",
    ),
    "E612": (
        "parts that do not belong together",
        "All parts of a bundle, or runs to be joined, come from the same specs or questions, seed, k and versions. "
        "Make those again that differ.",
    ),
    "E613": ("parts that are missing or double", "A bundle needs each part from 1 to N exactly once."),
    "E614": (
        "replies that contradict each other",
        "Two runs hold other replies of the same respondent to the same question and attempt. Leave one of them out.",
    ),
    "E620": (
        "a cluster that cannot be used",
        "The scheduler does not answer, has gone, or has no workers; nothing was written. Start it, and compile again.",
    ),
    "E621": (
        "a worker with other versions",
        "A worker of the cluster has other libraries than this machine, and its bytes might differ. Install the same.",
    ),
    # Bundles
    "E701": ("no bundle here", "The folder is missing, cannot be read, or holds no bundle. Name a compiled bundle."),
    "E702": (
        "a damaged manifest",
        "`manifest.json` is not what its own checksum says, or has no right shape. Get the bundle again.",
    ),
    "E703": (
        "a changed file",
        "A file of the bundle has other bytes than the manifest says. Get the bundle again, or compile it again.",
    ),
    "E704": ("a missing file", "A file that the manifest lists is not there. Get the bundle again."),
    "E705": (
        "an added or renamed file",
        "The bundle holds a file that the manifest does not list. Remove it, or undo the renaming.",
    ),
    "E706": ("a link in a bundle", "A listed file is a link or no regular file. A bundle holds plain files only."),
    "E707": (
        "a record that cannot be read",
        "A line of the bundle is no record of the right shape, although its digest agrees. The bundle was made by "
        "something else.",
    ),
    "E708": (
        "records that contradict the manifest",
        "The questions do not give the manifest's `questions_root`, or ids, answers or counts do not agree with each "
        "other, although every digest does. The bundle was made by something else.",
    ),
    "E709": (
        "answers of other questions",
        "The answers do not follow the questions line by line. Get the bundle again.",
    ),
    "E710": ("not a digest", "`--expect` takes the 64 hexadecimal digits that `dia compile` printed."),
    "E711": ("a bundle that cannot be read", "A file of the bundle is there, but the system does not let it be read."),
    "E712": ("no specs in the bundle", "`--recompile` needs the specs inside the bundle; this one has none."),
    "E713": (
        "withheld answers",
        "An export needs the answers, and this bundle has none. Unseal it; `jsonl` and `dia-bench` hold questions "
        "without answers too.",
    ),
    "E714": (
        "a question that the target cannot hold",
        "It is a session, or has files, turns or a system prompt that the other harness cannot ask. `dia run` asks it, "
        "and so does `inspect`.",
    ),
    "E715": ("an unknown target", "No exporter has this name. The message lists those that there are."),
    "E716": ("an exporter that leaves its folder", "A plug-in names a file outside the folder that it may write to."),
    "E717": (
        "a key that cannot be used",
        "The file is missing, or holds no Ed25519 key in PEM: `dia keygen` makes a pair, of which the private one "
        "signs and the one that ends in `.pub` verifies.",
    ),
    "E718": (
        "no passphrase, or a wrong one",
        "A passphrase comes from the prompt, from the file of `--passphrase-file` or from the environment variable "
        "DIA_PASSPHRASE, never from the command line. It must be the one that the key or the seal was made with.",
    ),
    "E719": (
        "a signature that is missing or wrong",
        "`dia verify --public-key` found no `signature.json`, or one of another key or another bundle.",
    ),
    "E721": (
        "a damaged seal",
        "`sealed.bin` was cut, changed, or made by another version. Get the sealed bundle again.",
    ),
    "E722": (
        "a seed that can be guessed",
        "Whoever guesses the seed makes the answers, so a seed below 128 bits is not sealed. Compile with "
        "`--seed secret`, or say `--weak` where the seed need not be secret.",
    ),
    "E723": (
        "a bundle that is sealed, or is not",
        "`dia seal` takes a bundle with its answers; `dia unseal` and `dia prove` take one that `dia seal` made.",
    ),
    "E724": (
        "a proof that proves nothing",
        "The answer and the salt of the proof do not give the commitment that the bundle holds, or the proof belongs "
        "to another bundle, or is no proof.",
    ),
    "E725": (
        "an archive that is refused",
        "The archive is not what `dia pack` writes: its manifest first, then the files that it lists, each once, plain "
        "and with its size and digest. Nothing of it was kept.",
    ),
    "E726": (
        "a bundle that cannot be packed",
        "A path is too long or a file too large for the tar format (USTAR), or the bundle packs so well that "
        "`dia unpack` would take it for a bomb.",
    ),
    "E727": (
        "a corpus that cannot be scanned",
        "A file is missing, damaged or unpacks to far more than it should, or there is nothing to look for.",
    ),
    # Runs and scores
    "E801": ("not a run", "The file is missing or is no run. Name a file that `dia run` made."),
    "E802": (
        "a run of other questions",
        "The run was asked from other questions than the bundle, than the first run, or than a bank was calibrated on. "
        "Score them apart; for a bank, give the questions that are its own.",
    ),
    "E803": ("a damaged run", "The file of the run holds what dia never writes. Ask again into a new file."),
    "E804": ("a run that cannot be used", "The file of the run cannot be opened or written. The message says why."),
    "E805": (
        "a respondent with other settings",
        "The run holds replies of a respondent of this name under other settings. Ask into another file with `--out`.",
    ),
    "E806": ("an unknown respondent", "No respondent has this name. The message lists those that there are."),
    "E807": ("a number below 1", "`--attempts` and `--limit` count from 1."),
    "E808": (
        "no answers",
        "The baseline or the score needs the answers, and neither run nor bundle holds them. Give `--bundle`.",
    ),
    "E809": ("an unknown question", "The bundle has no question of this id. The message names the closest one."),
    "E811": (
        "an unknown way to score",
        "A verdict or its points are not what `dia score` takes. Points are exact: `--points wrong=-1`.",
    ),
    "E821": (
        "an unknown way of reading replies",
        "The grader has no answer format or no chain of this name. A newer version may have made the bundle.",
    ),
    "E822": (
        "an answer that cannot be graded by",
        "An answer record's truth, accepted form or comparison has not the right shape. The bundle or the run was made "
        "by something else.",
    ),
    "E823": ("a missing key", "The provider wants a key. Set it in the environment, or in `.env` of the folder."),
    "E824": ("not a base URL", "`--base-url` takes the address of an OpenAI-compatible interface: http://host/v1."),
    "E825": (
        "a provider that refuses",
        "The endpoint refused the key, the model or the request for good; it says why.",
    ),
    "E826": ("litellm is missing", "This provider is asked through litellm: `pip install 'dia-spec[models]'`."),
    "E827": ("aiohttp is missing", "Endpoints are asked over aiohttp, which comes with dia: `pip install aiohttp`."),
    "E841": (
        "replies that cannot be replayed",
        "The file behind `replay:` is missing, is no run and no JSON Lines of replies, or holds several respondents. "
        "Wrong lines are named; `replay:FILE#NAME` chooses a respondent.",
    ),
    "E842": ("a command that cannot be started", "`command:` takes a program that is there, and its arguments."),
    "E843": (
        "a simulated respondent that makes no sense",
        "`simulated:` takes an ability, and perhaps a bank, a seed and a share of skips. The message says more.",
    ),
    "E844": ("not a folder for prompts", "`manual:` takes a folder, which is made where there is none."),
    "E845": ("pyarrow is missing", "Parquet is written through pyarrow: `pip install 'dia-spec[parquet]'`."),
    "E846": (
        "a role that nobody plays",
        "Sessions have a role, such as a judge, that `--role` gives to nobody, or `--role` names one that they do not "
        "have. `--role judge=NAME` binds it, `--role judge=none` leaves its sessions out.",
    ),
    "E847": (
        "a respondent that cannot talk",
        "`oracle`, `abstain`, `wrong`, `guess` and `simulated` make their replies out of answers, which sessions do "
        "not have. Ask a model, a program (`command:`), a person (`manual:`), or `says:TEXT`.",
    ),
    "E848": ("a respondent that says nothing", "`says:TEXT` always replies the text behind the colon."),
    "E861": (
        "a table that cannot be read",
        "A file that is imported is missing, damaged or not in the format that `--from` names, or one of its lines is "
        "none. The message has the place.",
    ),
    "E862": (
        "a row that cannot be used",
        "A row of an imported table lacks a column, holds something else than its field wants, comes twice or "
        "contradicts another. `--field NAME=COLUMN` says which column holds what.",
    ),
    "E863": (
        "a run that is there already",
        "An import makes a new file. `--out` names another one, `--force` replaces the one that is there.",
    ),
    "E864": (
        "an import that says too little",
        "`--field`, `--letters`, `--skip`, `--type` or `--answer-format` name something that there is not, or do not "
        "fit each other.",
    ),
    "E865": (
        "a log that does not fit its bundle",
        "Questions of the bundle have no reply in the log. `--keep` takes the replies that are there.",
    ),
    "E871": ("matplotlib is missing", "A .png is drawn by it: `pip install 'dia-spec[report]'`, or write an .svg."),
    "E872": (
        "a picture that cannot be drawn",
        "`dia plot` knows no such kind, the file it is to write ends neither in .svg nor in .png, or the runs hold too "
        "little for this picture. The message says which.",
    ),
    "E873": ("a file that cannot be written", "The file named by `-o` cannot be made there. The message says why."),
    "E891": (
        "data that cannot be calibrated",
        "A table or a matrix of replies has a cell that is no share, more successes than trials, a model without "
        "replies, or too little that is not all right or all wrong. The message names the place.",
    ),
    "E892": (
        "data that fall apart",
        "Models and items are in blocks that nothing links, or that only one side ever beats, so that one scale cannot "
        "hold them all. The message names the blocks; ask for what links them, or keep the largest block alone.",
    ),
    "E893": (
        "an unknown way to calibrate",
        "A method, gauge, filter or another option of calibration is not known, or does not fit the others.",
    ),
    "E894": (
        "not a bank",
        "The file is no bank, one of another version, or damaged. Calibrate again with `dia calibrate`.",
    ),
    "E895": (
        "banks that cannot be linked",
        "Two banks, or a bank and what is to be explained or audited by it, have too few items in common.",
    ),
    "E896": (
        "a placement that cannot begin",
        "It is unclear whom to place, or the bank's items are not among the questions. The message says which.",
    ),
    "E897": (
        "a search that cannot begin",
        "A template has nothing to move or is asked in sessions, nothing is known of the model's ability, or the "
        "folder holds another search. The message says which.",
    ),
    # Bugs of dia
    "E900": ("a bug of dia", "Something failed that never should. The traceback is in the file that is named."),
}
