"""All error codes, each with a short title, its meaning and a fix."""

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
    "E9": "Bugs in dia",
}

CODES: dict[str, tuple[str, str]] = {
    # Reading files
    "E101": (
        "file not found or not readable",
        "A path does not exist, cannot be read, leads outside the spec folder, or is a folder without specs. Name a "
        "folder with a `benchmark.yaml`, and keep lists and catalogs inside that folder.",
    ),
    "E102": ("not UTF-8", "The file contains bytes that are not valid UTF-8. Save it as UTF-8."),
    "E103": (
        "file too large",
        "A spec or a list file is larger than 1 MiB, or a data file larger than 100 MB. Split it.",
    ),
    "E104": (
        "not YAML",
        "YAML cannot parse the file at this position. Usually an expression contains `: ` or ` #`, or starts with "
        "one of `[ { \" ' * & ! % @ > | -`: quote the whole value, or put it on its own lines after `|`.",
    ),
    "E105": ("duplicate key", "A key appears twice in one mapping. Keep one of the two."),
    "E106": (
        "unsupported YAML feature",
        "Tags, anchors, aliases and merge keys are not supported. Write the value out, or share it through `types` "
        "and `lists`; quote text that starts with `!`, `&` or `*`.",
    ),
    "E107": (
        "file nested too deeply or with too many nodes",
        "The file nests more than 64 levels or has more than 20,000 nodes. Put long lists in a list file.",
    ),
    "E108": (
        "invisible character",
        "The file contains a control character or a character that changes the writing direction. Remove it, or "
        "write it as an escape in double quotes.",
    ),
    "E109": (
        "malformed number",
        "A number has a leading zero, such as `012`, is infinite, or has more than 4,000 digits. Quote it if it is "
        "text; write a long number as an expression such as `= 10**5000`.",
    ),
    "E110": ("empty file, or a second document", "A spec file contains exactly one YAML document."),
    "E111": (
        "data file that cannot be read",
        "A data file is not valid JSON Lines, CSV or Parquet, has a row with a different shape or a duplicate row, "
        "lacks a requested column, or has more than 500,000 rows or 2,500,000 values. The message gives the line.",
    ),
    # The shape of a spec
    "E201": (
        "unknown key",
        "This key is not known here, or a catalog entry has a face (a named part) that the catalog does not declare. "
        "The message suggests the closest name or lists all of them.",
    ),
    "E202": (
        "missing key",
        "Something required is missing: a key, a face of a catalog, an option of a type or builder, a turn, a template "
        "file, or `{{ challenge }}` in the `prompt` of benchmark.yaml. Add it.",
    ),
    "E203": (
        "value of the wrong kind",
        "The value has the wrong shape: a list where text is expected, or a number where a condition is expected. "
        "The message says what is expected.",
    ),
    "E204": (
        "value not allowed",
        "Only certain words are allowed here, or text that matches a pattern: ids consist of lowercase letters, "
        "digits and `_`. The message says which.",
    ),
    "E206": (
        "missing requirement",
        "The template's `requires` names an extra, a file or a tool that this machine does not have. This is an error "
        "only with `--strict`, or if you name the template on the command line; otherwise, the template is left out. "
        "The other causes: a template reads a .parquet file, but the extra `parquet` is neither installed nor named "
        "in `requires`; or `--cluster` was given, but the extra `cluster` is not installed. Install what is missing.",
    ),
    "E207": (
        "plug-in that cannot be used",
        "An installed package provides a function, type, builder, format or exporter that does not load, has a name"
        " that is already taken, or is incomplete. The message names the package.",
    ),
    # Expressions, templates and names
    "E301": (
        "not an expression",
        "The text does not follow Python's grammar for expressions, or is empty. The caret shows where parsing "
        "stopped.",
    ),
    "E302": (
        "expression feature that is not supported",
        "Attributes, methods, lambdas, statements and names that start with `_` are not part of the language. "
        "Expressions are limited to 20,000 characters and to a maximum nesting depth. Use functions, and split long"
        " expressions with `let`.",
    ),
    "E303": (
        "unknown name",
        "No parameter, `let` value, list, catalog or constant has this name. The message suggests the closest one. "
        "Functions must be called: `f(x)`.",
    ),
    "E304": (
        "unknown function",
        "Neither the library nor the spec has a function with this name. `dia functions` lists the library. There "
        "is no `random`: use a parameter.",
    ),
    "E305": (
        "wrong number of arguments",
        "The call has too few or too many arguments, or uses keyword arguments. The message shows the signature.",
    ),
    "E306": (
        "expression or text misread by YAML",
        "YAML read part of the value as a list, a mapping, a second key or a comment. Quote the whole value, or put "
        "it on its own lines after `|`.",
    ),
    "E307": (
        "circular definition, or a value used too early",
        "Values, functions or types are defined in terms of each other, or a parameter uses one that is drawn after"
        " it. Declare that one earlier.",
    ),
    "E308": (
        "answer leak",
        "A prompt, a condition on parameters or the answer itself depends on `answer`. Remove that reference.",
    ),
    "E309": (
        "reserved name",
        "`answer`, `reply`, `it`, `index`, `true`, `false`, `none`, Python's keywords and the names that prompts and "
        "wrappers see, such as `points`, are reserved. Choose another name.",
    ),
    "E310": (
        "name already taken",
        "Two declarations of one template, or two templates of one benchmark, have the same name. Rename one.",
    ),
    "E311": (
        "not a template",
        "A prompt or explanation does not follow the template grammar. Write literal braces as `{{ '{{' }}`, or "
        "between `{% raw %}` and `{% endraw %}`.",
    ),
    "E312": (
        "template feature that is not supported",
        "Arithmetic, decimals, methods, `set`, `include`, `{% macro %}` and `is` tests are not supported in templates, "
        "and a template has at most 100,000 characters. Compute values under `let`, and declare macros under `macros`.",
    ),
    "E313": (
        "macro in `accept_if`",
        "`accept_if` uses a macro, or a face that is declared as `template`, but the grader evaluates only "
        "expressions. Write it as an expression.",
    ),
    "E314": (
        "program that is not allowed to run",
        "`program` and `run_elf` start programs. They run for the specs that come with dia, and for other specs "
        "only with `--allow-programs`; they never run in `accept_if` and `share`, because the grader does not start"
        " programs.",
    ),
    "E315": (
        "reply used before it exists",
        "Sessions wait for each other's replies in a cycle, or a turn uses the reply to itself or to a later turn. "
        "A session can read replies of other sessions only after those have ended.",
    ),
    "E316": (
        "unused reply",
        "Neither a turn nor the grading nor a figure uses this reply. Use it, or remove its `reply`.",
    ),
    "E317": (
        "reply that may be missing",
        "A `when` may skip the turn, and its reply is used without a check. Check first: `x if answered(x) else "
        "...`; or use it only under the same `when`.",
    ),
    "E318": (
        "reply needed too early",
        "Parameters, the template's `where`, `checks`, `skills`, `explanation`, assets, slots, variants, formats and "
        "the `share` of a session are fixed before the model is asked anything, so they cannot depend on a reply.",
    ),
    # Types of parameters and answers
    "E401": (
        "unknown type",
        "No parameter type has this name, or this version does not have it yet. `dia types` lists them.",
    ),
    "E402": (
        "unknown option of a type",
        "The parameter type does not have this option. The message lists its options.",
    ),
    "E403": (
        "impossible option",
        "The options of a parameter type contradict each other or leave no value: `min` above `max`, an empty list,"
        " or more distinct elements than there are values.",
    ),
    "E404": (
        "invalid answer type",
        "The answer's `type` or its options are unknown or do not fit together. The message says which.",
    ),
    "E405": (
        "parameter that cannot make items",
        "`each` needs a parameter whose values can be listed and do not depend on anything drawn, such as a row of "
        "a file, a choice, or an integer between bounds.",
    ),
    "E406": ("unknown asset builder", "No asset builder has this name. The message lists the available ones."),
    "E407": (
        "unknown option of a builder",
        "The asset builder does not have this option. The message lists its options.",
    ),
    "E408": (
        "asset that cannot be built",
        "An option of an asset builder is invalid, or the content does not fit: text too long for a QR code, a font"
        " that is not shipped, a password that the format cannot store, a source that does not compile.",
    ),
    "E409": (
        "invalid reply format",
        "The `format` of a turn's reply is unknown, or its options do not fit. The message says which.",
    ),
    # Making instances
    "E501": (
        "failed evaluation",
        "An expression or function was given a value that it does not accept: text instead of a number, or an index"
        " beyond the end. The message shows the parameters of the instance.",
    ),
    "E502": (
        "limit exceeded",
        "A value exceeded its size limit, or an evaluation used too many steps, too much time or too much memory. "
        "Make the work smaller, or raise `limits` of the template.",
    ),
    "E503": (
        "failed check",
        "A line of `checks` is false for an instance: `answer` or the check is wrong. Nothing is written.",
    ),
    "E504": (
        "no such value",
        "The result does not exist or is not a finite exact number: a division by zero, no inverse, no closed form."
        " Exclude such parameters with `where`.",
    ),
    "E505": (
        "too few distinct instances",
        "The template cannot make k different instances. Widen a parameter, or relax a `where`. `dia preview` also "
        "uses this code if the requested instance or item does not exist.",
    ),
    "E506": (
        "two instances with the same text",
        "Two questions of a template are equal. If the message names a parameter or a slot, show it in the prompt; if "
        "it names only a variant, change that. If it names none of these, the values of two parameters can probably "
        "be swapped without changing the text: rule that out with a `where` such as `a <= b`.",
    ),
    "E507": (
        "failed example",
        "A worked example does not give the answer or the verdict that it states, or has a parameter that its type "
        "cannot draw. Fix the example or the template.",
    ),
    "E508": (
        "unexpected verdict",
        "dia's own grader must grade the answer as correct, the abstention token as skipped, and every named mistake "
        "as wrong, unless it equals the answer. Fix the answer's options, `accept_if` or the abstention token.",
    ),
    "E510": (
        "indistinguishable options",
        "Two options of a multiple-choice question have the same text, or one is empty. Distractors must differ from "
        "the right option and from each other.",
    ),
    "E511": (
        "variant with a different answer",
        "A variant asks the same question with a different wording, so its answer must be the same. Do not "
        "redraw parameters that the answer depends on.",
    ),
    "E512": (
        "missing reply",
        "An expression or template uses a reply that was never received or could not be read. Check first: `x if "
        "answered(x) else ...`.",
    ),
    # Writing output
    "E600": ("invalid argument", "A number or word on the command line is outside what the option accepts."),
    "E601": (
        "output that would be overwritten",
        "Something else already exists where the bundle goes. `-o` chooses another folder, `--force` replaces what "
        "is there.",
    ),
    "E602": (
        "output that cannot be written",
        "The disk of an output or temporary file is full, or its folder is not writable. Do what the message "
        "suggests: free some space, or choose another folder, usually with `-o`.",
    ),
    "E603": (
        "refused by the operating system",
        "Something that has no other code: a name is too long, a folder cannot be read, too many files are open, or "
        "standard output goes to a full disk. The message says which.",
    ),
    "E604": (
        "file name that a bundle cannot have",
        "A bundle must have the same files on every system. Rename the spec or data file: no colon or backslash, no "
        "control character, and no second file whose name differs only in upper and lower case.",
    ),
    "E605": (
        "invalid defaults",
        "`dia.toml`, or `[tool.dia]` in pyproject.toml, is not valid TOML, names a command or option that does "
        "not exist or that only the command line may set, or has a value of the wrong kind.",
    ),
    "E606": (
        "missing package",
        "The command needs a package that is not installed. The message says which extra has it.",
    ),
    "E610": ("not a part", "`dia merge` joins run files, or folders that `dia compile --part` made. Name those."),
    "E611": (
        "damaged part",
        "A file of the part is missing, or its contents do not match `part.json`. Compile this part again.",
    ),
    "E612": (
        "parts that do not belong together",
        "The parts of a bundle must come from the same specs, seed, k and versions. Runs must have asked each "
        "respondent with the same settings. Redo the parts or runs that differ.",
    ),
    "E613": ("missing or duplicate parts", "A bundle needs each part from 1 to N exactly once."),
    "E614": (
        "contradicting replies",
        "Two runs contain different replies of the same respondent to the same question and attempt. Leave one of "
        "them out.",
    ),
    "E620": (
        "cluster that cannot be used",
        "The scheduler does not answer, has shut down, or has no workers; nothing was written. Start it, and "
        "compile again.",
    ),
    "E621": (
        "worker with other versions",
        "A worker of the cluster has other library versions than this machine, so its output might differ. Install "
        "the same versions.",
    ),
    # Bundles
    "E701": (
        "not a bundle",
        "The folder is missing, cannot be read, or does not contain a bundle. Name a compiled bundle.",
    ),
    "E702": (
        "damaged manifest",
        "`manifest.json` does not match its own checksum, or has the wrong shape. Download or copy the bundle again.",
    ),
    "E703": (
        "modified file",
        "The contents of a file do not match the manifest. Download or copy the bundle again, or compile it again.",
    ),
    "E704": ("missing file", "A file that the manifest lists is missing. Download or copy the bundle again."),
    "E705": (
        "added or renamed file",
        "The bundle contains a file that the manifest does not list. Remove it, or rename it back.",
    ),
    "E706": (
        "link in a bundle",
        "A listed file is a link or not a regular file. A bundle contains regular files only.",
    ),
    "E707": (
        "unreadable record",
        "A line of the bundle is not a record of the expected shape, although its digest matches. The bundle was "
        "made by another program.",
    ),
    "E708": (
        "records that contradict the manifest",
        "The questions do not match the manifest's `questions_root`, or ids, answers or counts disagree with each "
        "other, although every digest matches. The bundle was made by another program.",
    ),
    "E709": (
        "answers of other questions",
        "The answers do not match the questions line by line. Download or copy the bundle again.",
    ),
    "E710": ("not a digest", "`--expect` takes the 64 hexadecimal digits that `dia compile` printed."),
    "E711": (
        "bundle that cannot be read",
        "A file of the bundle exists, but the operating system does not allow reading it.",
    ),
    "E712": ("no specs in the bundle", "`--recompile` needs the specs inside the bundle, and this bundle has none."),
    "E713": (
        "withheld answers",
        "The export needs the answers, and this bundle has none. Unseal it, or use a target that also "
        "exports questions without answers, such as `jsonl`.",
    ),
    "E714": (
        "question that the target does not support",
        "The question is a session, or has files, several turns or a system prompt, which the other harness cannot "
        "handle. Use `dia run` or export to `inspect`.",
    ),
    "E715": (
        "unknown target, or models that do not fit it",
        "No exporter has this name; the message suggests the closest target or lists all of them. Or `--model` does "
        "not fit: the target `openai-batch` needs exactly one, the other targets that export questions take none.",
    ),
    "E716": (
        "exporter that writes outside its folder",
        "A plug-in names a file outside the folder that it is allowed to write to.",
    ),
    "E717": (
        "key that cannot be used",
        "The file is missing, or does not contain an Ed25519 key in PEM format. `dia keygen` makes a key pair: the "
        "private key signs, and the file that ends in `.pub` verifies.",
    ),
    "E718": (
        "missing or wrong passphrase",
        "The passphrase is read from the file that `--passphrase-file` names or from the environment variable "
        "DIA_PASSPHRASE; otherwise, dia asks for it in the terminal. It cannot be written on the command line. It must "
        "be the one used when the key or the seal was made.",
    ),
    "E719": (
        "missing or wrong signature",
        "`dia verify --public-key` found no `signature.json`, or a signature made with another key or for another "
        "bundle.",
    ),
    "E721": (
        "damaged seal",
        "`sealed.bin` was truncated, modified, or made by another version. Download or copy the sealed bundle again.",
    ),
    "E722": (
        "seed that can be guessed",
        "Anyone who guesses the seed can compute the answers, so a bundle with a seed below 128 bits is not sealed."
        " Compile with `--seed secret`, which draws a random seed, or seal the bundle anyway with `--weak`.",
    ),
    "E723": (
        "sealed bundle in place of an unsealed one, or the reverse",
        "`dia seal` takes a bundle with its answers; `dia unseal` and `dia prove` take one that `dia seal` made.",
    ),
    "E724": (
        "invalid proof",
        "The answer and the salt of the proof do not match the commitment in the bundle, the proof belongs to "
        "another bundle, or the file is not a proof.",
    ),
    "E725": (
        "rejected archive",
        "The archive is not what `dia pack` writes: the manifest first, then the files that it lists, each exactly "
        "once, as a regular file with the listed size and digest. Nothing was extracted. Or an archive was given to a "
        "command that needs the folder of a bundle: unpack it first.",
    ),
    "E726": (
        "bundle that cannot be packed",
        "A path is too long or a file too large for the tar format (USTAR), or `dia unpack` would reject the archive: "
        "`provenance.json` or `signature.json` is larger than 1 MiB, or the bundle compresses so well that it looks "
        "like a decompression bomb.",
    ),
    "E727": (
        "corpus that cannot be scanned",
        "A file that `dia scan` is asked to search is missing, damaged or not readable, or unpacks to more than 64 MiB "
        "and more than 200 times its own size. Or the text of `--canary` has neither letters nor digits.",
    ),
    # Runs and scores
    "E801": ("not a run", "The file is missing or is not a run. Name a file that `dia run` made."),
    "E802": (
        "run of other questions or answers",
        "The run was made with different questions or answers than the bundle, the first run, or the bank (a file that "
        "`dia calibrate` makes from runs). Score the runs separately; for a bank, use the questions on "
        "which it was calibrated.",
    ),
    "E803": ("damaged run", "The run file contains data that dia never writes. Run again into a new file."),
    "E804": (
        "run file that cannot be used",
        "The run file cannot be opened or written, or another process is asking the same model and writing to the "
        "same file. The message says why.",
    ),
    "E805": (
        "respondent with other settings",
        "The run contains replies of a respondent of this name with other settings. Write to another file with "
        "`--out`.",
    ),
    "E806": (
        "unknown respondent",
        "No respondent has this name. The name of a model starts with its provider, as in `openai/gpt-4o-mini`, unless "
        "`--base-url` names an endpoint. The message lists the built-in baselines, or the respondents of the run.",
    ),
    "E807": ("number below 1", "`--attempts` and `--limit` must be at least 1."),
    "E808": (
        "no answers",
        "The baseline or the score needs the answers, and neither the run nor its bundle contains them. Name the "
        "bundle that has them with `--bundle`; if it is sealed, unseal it first.",
    ),
    "E809": ("unknown question", "The bundle has no question with this id. The message suggests the closest one."),
    "E811": (
        "invalid scoring option",
        "A verdict, label, figure, preset or number that scoring does not accept, or runs that cannot be compared as "
        "requested. Points are exact numbers: `--points wrong=-1`. The message lists the choices.",
    ),
    "E821": (
        "unknown answer format or chain",
        "The grader does not know this answer format or this chain (a sequence of steps that extract the answer from a "
        "reply), or the format has invalid options. A newer version may have made the bundle. `dia audit` also "
        "uses this code if `--chains` does not name two different chains.",
    ),
    "E822": (
        "answer record that cannot be used",
        "A part of an answer record has the wrong shape: the correct answer, an accepted form, the comparison, or an "
        "expression for the grading, such as `accept_if`. The bundle or the run was made by another program, or "
        "changed afterwards.",
    ),
    "E823": (
        "missing API key",
        "The provider requires an API key. Set it in the environment, or in the file `.env` in the current folder.",
    ),
    "E824": (
        "not a base URL",
        "`--base-url` takes the address of an OpenAI-compatible interface, usually http://host/v1. dia appends "
        "`/chat/completions`.",
    ),
    "E825": (
        "request rejected by the provider",
        "The endpoint permanently rejected the key, the model or the request, or no endpoint exists at this address. "
        "The message contains the reason.",
    ),
    "E826": (
        "litellm is missing",
        "This provider is accessed through litellm: `pip install '.[models]'` in a clone of dia. If the name of the "
        "provider is misspelled, the message suggests another one.",
    ),
    "E827": (
        "aiohttp is missing",
        "Endpoints are accessed through aiohttp, which comes with dia: `pip install aiohttp`.",
    ),
    "E841": (
        "replies that cannot be replayed",
        "The file after `replay:` is missing, is neither a run nor JSON Lines of replies, or contains several "
        "respondents. Wrong lines are listed; `replay:FILE#NAME` chooses a respondent.",
    ),
    "E842": ("command that cannot be started", "`command:` takes an installed program and its arguments."),
    "E843": (
        "invalid simulated respondent",
        "`simulated:` takes an ability, and optionally a bank, a seed and a share of skips. The message says what "
        "is wrong.",
    ),
    "E844": ("not a folder for prompts", "`manual:` takes a folder. It is created if it does not exist."),
    "E845": ("pyarrow is missing", "Parquet is written with pyarrow: `pip install '.[parquet]'` in a clone of dia."),
    "E846": (
        "role without a respondent",
        "Sessions have a role, such as a judge, that no `--role` assigns, or `--role` names one that they do not "
        "have. `--role judge=NAME` assigns it, `--role judge=none` leaves its sessions out.",
    ),
    "E847": (
        "respondent that cannot take part in sessions",
        "Baselines, such as `oracle`, and `simulated` build their replies from answers, which sessions do not have. "
        "Ask a model, a program (`command:`), a person (`manual:`), or `says:TEXT`.",
    ),
    "E848": ("missing text after `says:`", "`says:TEXT` always replies with the text after the colon. Add a text."),
    "E849": (
        "base URL without effect",
        "Baselines, such as `oracle`, are built into dia and use no network, so `--base-url` has no effect on them. "
        "The same holds for names with a prefix, such as `simulated:` and `replay:`. Remove `--base-url`, or "
        "name a model of the endpoint. If the endpoint has a model named oracle, write `openai/oracle`.",
    ),
    "E851": (
        "tools without a sandbox",
        "The tools of dia run only in a sandbox, which needs bubblewrap or `unshare`, and user namespaces. The message "
        "says how to get one.",
    ),
    "E852": (
        "invalid tool",
        "`--tools` takes python, bash and files; `--tool-command` takes NAME=COMMAND or a YAML file that describes a "
        "tool; `--mcp` takes the command of an MCP server. The message says what is wrong.",
    ),
    "E853": (
        "mcp is missing",
        "MCP servers are asked through the package mcp: `pip install '.[tools]'` in a clone of dia.",
    ),
    "E854": (
        "respondent that cannot use tools",
        "Only models at an endpoint can call tools. Ask baselines, recorded replies, programs and people without "
        "`--tools`.",
    ),
    "E855": (
        "invalid price",
        "`--price` takes US dollars for a million prompt tokens and a million completion tokens, for all models "
        "(`0.15,0.6`) or for those whose names match a pattern (`openai/*=0.15,0.6`). A third number is the price of "
        "prompt tokens that the provider had in its cache.",
    ),
    "E861": (
        "imported file that cannot be read",
        "A file to import is missing, damaged or not in the format that `--from` names, or one of its lines is "
        "malformed. The message gives the location.",
    ),
    "E862": (
        "row that cannot be used",
        "A row of an imported table lacks a column, has a value that its field does not accept, appears twice or "
        "contradicts another row. `--field NAME=COLUMN` says which column contains what.",
    ),
    "E863": (
        "run file already exists",
        "An import creates a new file. `--out` names another one, `--force` replaces the existing one.",
    ),
    "E864": (
        "invalid import options",
        "`--field`, `--letters`, `--skip`, `--type` or `--answer-format` name something that does not exist, or "
        "contradict each other.",
    ),
    "E865": (
        "log that does not match its bundle",
        "Questions of the bundle have no reply in the log. `--keep` imports the replies that are there.",
    ),
    "E871": (
        "matplotlib is missing",
        "A .png is drawn with matplotlib: `pip install '.[report]'` in a clone of dia, or write an .svg.",
    ),
    "E872": (
        "plot that cannot be drawn",
        "`dia plot` does not know this kind, the output file ends neither in .svg nor in .png, the plot needs a bank, "
        "or the runs contain too little data for it. The message says which.",
    ),
    "E873": ("file that cannot be written", "The file named by `-o` cannot be created there. The message says why."),
    "E891": (
        "data that cannot be calibrated",
        "A table or a matrix of replies has a cell that is not a share between 0 and 1, more successes than trials,"
        " a model without replies, or too little left after removing rows and columns that are all right or all "
        "wrong. The message gives the location.",
    ),
    "E892": (
        "disconnected data",
        "The models and items form groups that cannot be placed on one scale. Two groups, A and "
        "B, are not linked if no model of one was asked an item of the other, or if all such replies favour A: its "
        "models solve every item of B that they were asked, and the models of B solve no item of A. The message lists "
        "the groups. Collect replies that link them, or keep only the largest group.",
    ),
    "E893": (
        "invalid calibration option",
        "An option of calibration, such as the method, a filter or the gauge (what fixes the origin of the scale), has "
        "an unknown value, or does not fit the other options or the data.",
    ),
    "E894": (
        "not a bank",
        "The file is not a bank, was made by another version, or is damaged. Calibrate again with `dia calibrate`.",
    ),
    "E895": (
        "bank that does not fit",
        "Two banks, or a bank and the runs that are used with it, have too few models or items in common, or too few "
        "items for `dia explain`.",
    ),
    "E896": (
        "placement that cannot start",
        "`dia place` cannot start: it is unclear which model to place, or the bank's items are not among the "
        "questions. The message says which.",
    ),
    "E897": (
        "search that cannot start",
        "`dia explore` cannot start: the template has nothing that can be varied, or it uses `each`; several templates "
        "or models are named; the model's ability is unknown; or the folder cannot be written or contains something "
        "else. The message says which.",
    ),
    "E898": (
        "difficulty that cannot be predicted or reached",
        "`dia compile --success` or `--difficulty` needs a bank with an explanation that predicts difficulties well "
        "enough, and instances of the requested difficulty; `--for` needs a model of that bank. The message says what "
        "is missing. `dia explain RUN --bank BANK --save FILE` writes a bank with an explanation.",
    ),
    # Bugs in dia
    "E900": (
        "a bug in dia",
        "Something failed that should never fail. The traceback is in the file named in the message.",
    ),
}
