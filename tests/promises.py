"""What forge-bot promises, each thing once, with a name. Tests carry the names of the promises that
they hold:

    @pytest.mark.promise("design-bare-approval")

`tests/test_promises.py` holds both directions, and compares what the README, the pages and `--help`
say with this list. The groups: `design-` what the pipeline is agreed to do, `lesson-` mistakes that
engines of this sort have made, `bot-` what holds in the issue thread, `mcp-` what holds for MCP
clients, `cli-` and `docs-` what users are told.
"""

DESIGN = {
    # What the pipeline is.
    "design-phases": (
        "The pipeline has the agreed phases in order, each with its kind, document, verdicts and"
        " efforts."
    ),
    "design-flows": (
        "Effort S is the light flow, M the standard one, L the full one, and each leaves out the"
        " agreed phases."
    ),
    "design-merged-analyst": (
        "At effort S one analyst does the work of two and answers under the headings of both."
    ),
    "design-one-task": "At effort S the plan is one task made from the design, without a model.",
    "design-auto-restores-review": "With --auto a small run has its design reviewed after all.",
    "design-fix-task": (
        "A failed comprehensive review adds a task that fixes it, at most two, then a person is"
        " asked."
    ),
    "design-own-verification": (
        "Our own process runs the project's commands; a model only explains what came out."
    ),
    "design-no-pull-request": "With --nopr a run ends with its summary and without a pull request.",
    "design-debug-report": "With --debug the summary has a debug report.",
    "design-steps": (
        "A pipeline of steps shows every file before it writes it, and writes nothing else."
    ),
    "design-audit-issues": "An audit opens the issues that were approved, each of them once.",
    "design-frozen-request": "The request is frozen: one that was changed by hand is refused.",
    # Every wait is a gate.
    "design-enumerated-answers": (
        "Whatever waits for a person is a gate with a list of the answers that it takes, and takes"
        " no other."
    ),
    "design-no-answer-no-gate-closed": (
        "A gate closes by a person's decision and by no other report."
    ),
    "design-rounds-exhausted": "When the rounds of a review are used up, a person decides.",
    "design-invalid-artifact": (
        "A document that stays without its headings is a person's to decide about."
    ),
    "design-red-verification": (
        "Verification that is still red after its rounds is a person's to decide about."
    ),
    "design-protected-paths": (
        "A change to protected paths waits as a patch, and is applied only once a person has"
        " approved it."
    ),
    "design-approve-accepts": (
        "Approving at the exceptional gate accepts its subject, and the run goes on."
    ),
    "design-reject-gives-a-round": (
        "Rejecting there gives one more round with the notes, and the counters begin at zero."
    ),
    "design-limits-end-at-checkpoints": (
        "When the rounds of a review are used up, the checkpoint after it shows what is open."
    ),
    # Answers.
    "design-notes-required": "A rejection without notes is refused.",
    "design-revise": "The word revise means reject.",
    "design-back-with-notes": (
        "A rejection leads back to the phase, and the notes stand in its prompt."
    ),
    "design-human-task": (
        "A task for a person is done or skipped by an answer that names its action."
    ),
    "design-abandon": "A run can be abandoned at every gate, and nothing comes after it.",
    # Verdicts.
    "design-unreadable": (
        "A review without exactly one readable verdict is asked again once; then a person decides."
        " It is never a yes."
    ),
    "design-verdict-forms": "A verdict is read in every form that a careful person would read.",
    "design-contradiction": (
        "Two different verdicts, or a yes beside a critical finding, are unreadable."
    ),
    "design-major-blocks-auto": "A finding that is MAJOR or worse stops --auto.",
    "design-auto": (
        "--auto passes a checkpoint only if the reviewer said APPROVE and nothing risky is known."
    ),
    # Approvals.
    "design-digest": (
        "An approval is bound to gate, round, request, base commit, and name and content of each"
        " file shown; to nothing else."
    ),
    "design-bare-approval": (
        "A bare approval means the version shown last, and a newer one that was shown after it"
        " makes it stale."
    ),
    "design-stale-approval": (
        "A stale approval is refused, and the question is shown again with what changed."
    ),
    "design-who-approved": "The record says who approved, and by which way.",
    # Tasks.
    "design-waves": (
        "Tasks whose dependencies have passed and whose files are disjoint form a wave of at most"
        " four, reviewed as one."
    ),
    "design-failed-task": (
        "A task that fails its review comes back with the findings, and no other with it."
    ),
    "design-implementation-first": (
        "A run is in its implementation while a task is not implemented; its reviews complete"
        " with it."
    ),
    "design-plan-findings": (
        "Cycles, unknown ids and overlapping files are findings for whoever planned; no task is"
        " dropped."
    ),
    "design-human-task-last": "A task for a person comes up only when no other task is ready.",
    # Reports, money, endings, git.
    "design-idempotent": (
        "A report that comes twice counts once, and one about an action that is over is refused."
    ),
    "design-fold": (
        "The state is the fold of the reports: folded again it is the same bytes, and a broken one"
        " is made anew."
    ),
    "design-worst-case": (
        "Before each call its worst cost is set aside, and tasks side by side never set aside more"
        " than the budget."
    ),
    "design-budget-pauses": (
        "At the end of the budget the work so far is kept and a person is asked."
    ),
    "design-outcomes": (
        "An invocation ends in one of seven ways, each with an exit code of its own."
    ),
    "design-only-adds": (
        "A run only adds commits to its branch: nothing is amended, rewound, forced or merged."
    ),
    "design-commits": (
        "Each phase, and each task, is one commit that names run, phase and inputs, and approvals"
        " their person."
    ),
    "design-push-on-request": "Without --push nothing leaves the machine.",
}

LESSONS = {
    "lesson-01": (
        "--auto works at every effort: with approving reviews no checkpoint stops the run."
    ),
    "lesson-02": (
        "A phase that is skipped is passed silently; a run says that it is done only at its end."
    ),
    "lesson-03": "A verdict that nobody can read is neither an approval nor a pass.",
    "lesson-04": (
        "A word in the prose of a review changes no verdict, and no review repeats without being"
        " counted."
    ),
    "lesson-05": "Every exceptional question has an answer that leads on.",
    "lesson-06": (
        "No report but a person's answer to this very question gets past a checkpoint or a task for"
        " a person."
    ),
    "lesson-07": (
        "A run that is over stays over: abandoned ones take no report, and completed ones are not"
        " resumed."
    ),
    "lesson-08": (
        "No process writes a stale state over a newer one: one process holds a run, and state is"
        " read from its reports."
    ),
    "lesson-09": (
        "No task is dropped because its dependencies are unknown or run in a circle; nothing runs"
        " before what it depends on."
    ),
    "lesson-10": (
        "The document of every phase is checked, also of the first ones; headings without words are"
        " no document."
    ),
    "lesson-11": (
        "Times of files mean nothing; after a checkout or an unpacking a run goes on as before."
    ),
    "lesson-12": (
        "Neither hooks nor an empty change stop a commit, and new files and repaired tasks are"
        " committed too."
    ),
    "lesson-13": (
        "When one task of a wave fails, the others keep their reviews; its next version is a new"
        " document."
    ),
    "lesson-14": (
        "A push that fails is told, asked about and made again; it is never forced, and a run is"
        " complete only after it."
    ),
    "lesson-15": "Findings that are open when a person approves reach those who implement.",
    "lesson-16": (
        "Verification decides: red goes back to the implementer, then to a person, and a model's"
        " words do not change it."
    ),
    "lesson-17": (
        "A run that was begun from an issue keeps it to the end: number, labels, author and closing"
        " line."
    ),
    "lesson-18": (
        "The labels of an issue count; effort is judged by signs of scope, in any language, as a"
        " careful person would."
    ),
    "lesson-19": (
        "Past runs serve later ones: found by their words, unfinished ones too, findings counted,"
        " newest first, and friction."
    ),
    "lesson-20": "The reason of a rejection reaches the one who has to do it again.",
    "lesson-21": (
        "The default branch may have any name; a branch's name follows the request and never takes"
        " one that exists."
    ),
    "lesson-22": "A document that was not taken is counted once, and what it cost is added once.",
    "lesson-23": (
        "From whichever folder it is called, the same repository and the same run are meant."
    ),
    "lesson-24": "Only documents of the run are shown; no name leads out of its folder.",
    "lesson-25": (
        "The commands of a project are found by what it is, in whatever language and folder."
    ),
    "lesson-26": "Failure has a report of its own: what did not work is never taken for finished.",
    "lesson-27": (
        "Pages, help and prompts speak of what there is, and the record names the model that"
        " answered."
    ),
}
"""Mistakes that engines of this sort have made. All of them could be made here too."""

BOT = {
    # Events and people.
    "bot-thread": (
        "A label starts a run, its questions are comments in the thread, and it ends in a pull"
        " request."
    ),
    "bot-strangers": (
        "Who may not give commands starts nothing, approves nothing, and costs a sign and one"
        " sentence."
    ),
    "bot-talk-is-free": "A comment without a command asks GitHub nothing and installs nothing.",
    "bot-same-event": "The same event twice changes nothing.",
    "bot-lost-event": "An event that was lost is made up for by the next one.",
    "bot-opened-by-hand": "A pull request that a person opened for the bot is the run's.",
    "bot-closed-without-label": (
        "The closing of an issue whose run was begun by a command starts a job and is told."
    ),
    "bot-fits-a-phone": "No table of a comment or a pull request is wider than a telephone.",
    "bot-git-down": "A server for git that fails is told in its words, and nothing is lost.",
    "bot-lost-answer": "A write whose answer is lost is there once.",
    "bot-at-once": "Two approvals, and two jobs at once, are one.",
    "bot-too-late": "A text or a label that came after a run had begun is told to be too late, once.",
    "bot-frozen": (
        "What is worked on is the text that was there when a person asked for it, until one asks to"
        " read it again."
    ),
    "bot-label-off": "A label that is taken off stops the run after its step.",
    "bot-closed-stops": "A closed issue stops its run until somebody reopens it or gives a command.",
    "bot-by-hand": "A command by hand counts for who gave it, and stands in the thread.",
    "bot-edited-question": "An approval of a question that somebody edited does not count.",
    # Walls.
    "bot-worker-without-token": (
        "What runs a model has nothing in it that holds the token, whatever it is called."
    ),
    "bot-wall": (
        "In the workflow with the wall no job has both a model's key and a token that writes."
    ),
    "bot-inspected": (
        "What a worker committed is inspected before it is pushed, and what it may not do is not"
        " pushed."
    ),
    "bot-people-only": "A worker cannot report what only a person or the supervisor can say.",
    "bot-nothing-in-public": "Neither token nor key is in anything that can be read.",
    "bot-own-code": "Nothing is imported from the repository that is worked on.",
    "bot-workflow-patch": "Files that the token cannot push come as a patch.",
    "bot-doubted": (
        "An approval that was not given in the thread is asked about there before a pull request,"
        " unless policy trusts it."
    ),
    "bot-pinned": (
        "What the workflows use is held fast by its commit, and no job may do more than it says."
    ),
    # What people read.
    "bot-harmless": (
        "Nothing that strangers or models wrote acts in a comment: it calls nobody, closes nothing,"
        " and stays in its block."
    ),
    "bot-fits": "A comment is never longer than GitHub takes, and says what found no room.",
    "bot-at-their-commit": "Documents are linked at their commit.",
    "bot-same-truth": "Comment, summary and exit code say the same.",
    "bot-draft": "A pull request is a draft until the project's own commands are green.",
    "bot-way-out": "Every error has words in the thread with a way out.",
    "bot-few-requests": "An event costs no more requests than the page says.",
    # Ends.
    "bot-cancelled": (
        "A job that is cancelled is over in seven seconds and says so, and the next one goes on."
    ),
    "bot-killed": "Whatever is killed, the next job goes on.",
    "bot-red-checks": (
        "After the pull request failed checks are mended at most twice, then a person is asked."
    ),
    "bot-batch-wakes": (
        "Where a Temporal server leads the runs, a timer looks for a batch, and a word in the"
        " thread looks at once."
    ),
    "bot-temporal-door": (
        "Where a Temporal server leads the runs, a job hands its event over, once, and a worker"
        " does in the thread what a job does."
    ),
}
"""What holds in the issue thread."""

MCP = {
    "mcp-no-claims": (
        "A client's word for the outcome of a command is worth nothing; our own process runs them."
    ),
    "mcp-elicited": (
        "Where the client can ask its person, only that answer counts; decline and cancel are none."
    ),
    "mcp-unverified": "An approval that a model passed on is recorded as unverified.",
    "mcp-plain-yes": "What is not plainly an approval is none.",
    "mcp-effect": (
        "A report without its effect counts for nothing, and the same report again changes nothing."
    ),
    "mcp-asked-again": (
        "An action without a report comes again when it is asked for, also from another process."
    ),
    "mcp-unfit": (
        "A document that is unfit goes back with the heading that is missing, and then comes before"
        " a person."
    ),
    "mcp-only-its-files": (
        "Only what changed since the action was handed out is committed; what was there before"
        " stays the client's own."
    ),
    "mcp-clean": "A run begins in a clean tree only.",
    "mcp-own-tree": "Project commands run in a tree of their own.",
    "mcp-one-for-each": "In a wave a file goes to the task that declares it.",
    "mcp-commits": "An agent that committed by itself is told how to take it back.",
    "mcp-errors": (
        "An error says what does not fit and how to go on; what nobody foresaw shows neither words"
        " nor stack."
    ),
    "mcp-strict": "Arguments that do not exist are refused.",
    "mcp-bounds": "Too much is refused before it is read.",
    "mcp-tools": "There are thirteen tools, and their list costs a model at most 1,500 tokens.",
    "mcp-orient": "Orientation is a status of some twenty tokens with a link to the rest.",
    "mcp-session-policy": "A session that only looks has no tool that changes something.",
    "mcp-stdout": "Nothing but the protocol stands on standard output.",
    "mcp-vanished": "A client that vanishes in the middle of a call loses nothing.",
    "mcp-many": "Clients at once lose no report, and a long call blocks nobody else.",
    "mcp-http": "Over HTTP only who shows the token from this machine is answered.",
    "mcp-same": "The same words lead to the same documents as on the command line.",
    "mcp-hooks": (
        "A hook stops what would harm a run, and nothing but a person's answers where none is under"
        " way."
    ),
    "mcp-listeners": "Who listens is told when a run goes on, in both eras of the protocol.",
    "mcp-clients": "Clients of others can drive the server.",
}
"""What holds for MCP clients."""

CLI = {
    # Commands, in the words of their help.
    "cli-run": "Take a task to a reviewed branch, stopping for you at the checkpoints.",
    "cli-approve": "Approve the open checkpoint and continue.",
    "cli-reject": "Reject what was shown, with notes, and continue.",
    "cli-revise": "Another spelling of reject.",
    "cli-ask": (
        "Ask the model about what is shown; nothing changes. What is said here reaches no later"
        " phase: repeat in the notes of reject what it should know."
    ),
    "cli-abandon": "End a run. Its branch stays.",
    "cli-done": "Mark a manual task as done and continue.",
    "cli-skip": "Skip a manual task and continue.",
    "cli-resume": "Continue a run that stopped.",
    "cli-update": "Merge what came to the base branch into a run, and verify it again.",
    "cli-retry": "Do a phase again, and everything after it.",
    "cli-clean": (
        "List what runs have left on this machine, with sizes, and remove what ended runs left."
    ),
    "cli-repair": (
        "Restore a run's record that cannot be read from the newest commit that has a readable one,"
        " and say what is lost."
    ),
    "cli-continue": "Allow a run more money or tokens, and continue.",
    "cli-status": "Show where a run stands.",
    "cli-show": "Print an artifact of a run.",
    "cli-list": "List the runs of the repository.",
    "cli-init": (
        "Write a commented .forge/config.yml and, on GitHub, the workflow of the bot, where they are missing."
    ),
    "cli-graph": "The project as a graph: what uses what, and which rules hold.",
    "cli-doctor": "Check whether a run could start here, and say what is missing.",
    "cli-capabilities": "List the tools and skills that agents may ask for here, with each problem; or call one.",
    "cli-worker": (
        "Work on the runs that a Temporal server leads, in clones or for issues, until stopped."
    ),
    "cli-option-github": (
        "Repository on GitHub whose issues it works for, with GITHUB_TOKEN; may be given several"
        " times."
    ),
    "cli-option-for": (
        "Part of the work that it takes; all if left out. May be given several times."
    ),
    "cli-option-steps": "Steps that it takes at the same time in all its clones.",
    "cli-option-steps-per-repo": "Steps that it takes at the same time in one clone.",
    "cli-option-metrics": "Address of an OpenTelemetry collector that gets the worker's metrics.",
    "cli-work": ("Continue a run in GitHub Actions (reads FORGE_BOT_WAKE)."),
    "cli-publish": (
        "Run the job of GitHub Actions that holds the token and no model: read commands, check and"
        " push commits, ask, open the pull request."
    ),
    "cli-mcp": "Serve the pipeline to an MCP client, which does the agents' work itself.",
    "cli-hook": "Answer a hook of an MCP host; what it asks comes over stdin.",
    "cli-demo": (
        "Watch a recorded run on a small sample repository: real git, real tests, recorded words."
    ),
    # Options, in the words of their help.
    "cli-option-pipeline": (
        "Pipeline of the run, such as audit or scaffold; else the configured one."
    ),
    "cli-option-repo": "Any folder inside the repository.",
    "cli-option-effort": "S, M or L; guessed from the request if left out.",
    "cli-option-auto": "Pass a checkpoint if the reviewer said APPROVE and nothing is risky.",
    "cli-option-nopr": "Prepare no pull request.",
    "cli-option-debug": "Add a debug report to the summary, and tracebacks to errors.",
    "cli-option-discuss": "Answer three questions about the request first.",
    "cli-option-batch": "Ask models in their provider's batches: within a day, at half the price.",
    "cli-option-answer": (
        "Answer to the next question of --discuss, where there is no terminal; up to three times."
    ),
    "cli-option-model": "provider:model for all tiers, scripted:FILE or replay:FILE.",
    "cli-option-budget": "US dollars the run may cost, such as 5, or tokens: 200000tokens.",
    "cli-option-branch": "Name of the new branch.",
    "cli-option-here": "Work on the branch and in the folder that is checked out.",
    "cli-option-record": "Append everything the model says to this file, to be replayed.",
    "cli-option-push": (
        "Push the run's branch and the one for merge when the pull request's text is ready, and at"
        " the end."
    ),
    "cli-option-keep": "Keep the run's work tree when the run is done.",
    "cli-option-mcp-config": "File that lists MCP servers; forge-mcp.json if left out.",
    "cli-option-skills-dir": "Folder of skills; may be given several times.",
    "cli-option-on": (
        "Host of the run: this command or a Temporal server; by default the one that has it."
    ),
    "cli-option-dev": "With --on temporal: start a development server and a worker here.",
    "cli-option-address": "Temporal server; TEMPORAL_ADDRESS if left out.",
    "cli-option-namespace": "Namespace there; TEMPORAL_NAMESPACE if left out.",
    "cli-option-open-pr": "Push, and open the pull request with gh.",
    "cli-option-remove": "Remove what ended runs left, without asking.",
    "cli-option-until": (
        "Stop with exit code 3 when this phase is complete, before the review or checkpoint that"
        " follows it. Id or name: phase-3, design, tasks, implementation, …"
    ),
    "cli-option-from": "Go on from this phase, which the run has reached: the same as retry PHASE.",
    "cli-option-yes": "Do not ask about effort, branch and slug.",
    "cli-option-by-script": ("Answer from a script, without a terminal; the record says so."),
    "cli-option-run": "Name or branch of the run, if there is more than one.",
    "cli-option-notes": "What should be different this time.",
    "cli-option-json": "Print state.json.",
    "cli-option-version": "Print the version and stop.",
    "cli-option-labels": "Create the labels on GitHub; needs GITHUB_TOKEN.",
    "cli-option-baseline": "Run the project's commands once, as a run does before its work.",
    "cli-option-workflow": (
        "Write .github/workflows/forge-bot.yml too; by default if origin is on GitHub."
    ),
    "cli-option-out": (
        "Only the worker's part: do what was handed over, push nothing, and leave it in this"
        " folder."
    ),
    "cli-option-in": "Folder that `work --out` left; its commits are looked at and pushed.",
    "cli-option-last": "No worker comes after this: say how to go on if there is more to do.",
    "cli-mcp-repo": "Folder inside a repository to serve; may be given several times.",
    "cli-option-http": "Serve over HTTP on this machine instead of stdin and stdout.",
    "cli-option-port": "Port for --http.",
    "cli-doctor-ask": "Ask each model one short question; costs a few tokens.",
    "cli-demo-yes": "Approve at the checkpoints instead of asking you.",
    # How an invocation ends.
    "cli-exit-0": "0 means done.",
    "cli-exit-1": "1 means failed.",
    "cli-exit-2": "2 means that what was typed cannot be meant.",
    "cli-exit-3": "3 means that it waits for a person.",
    "cli-exit-4": "4 means that the budget is used up.",
    "cli-exit-5": "5 means refused.",
    "cli-exit-6": "6 means abandoned.",
    # What else the README says.
    "cli-own-tree": (
        "A run works in a work tree of its own; what is not committed is never touched."
    ),
    "cli-no-tool": (
        "The model holds no tool: it answers with text and edits, and our process looks up, checks"
        " and applies."
    ),
    "cli-walls": "The project's commands run in a sandbox.",
    "cli-before-and-after": "They run before the work and after it; what is newly red goes back.",
    "cli-nothing-lost": "Killed anywhere, a run goes on and repeats at most the call under way.",
    "cli-no-main": "The branch that the work began at stays as it was.",
    "cli-completion": "A shell completes commands, runs, phases and documents.",
}

DOCS = {
    "docs-walls": (
        "What a box may not see, write, reach or call is not seen, written, reached or called; with"
        " `off` it is."
    ),
    "docs-own-network": (
        "Without setup a command reaches no network; setup reaches it, but no local socket."
    ),
    "docs-clean-environment": (
        "No variable of ours is passed on, and registries come without accounts."
    ),
    "docs-limits": (
        "Time, memory, processes, file sizes and output are bounded, and nothing outlives its"
        " command."
    ),
    "docs-refused-backend": (
        "Without a sandbox that works nothing runs, unless it was switched off by name."
    ),
    "docs-preflight": (
        "What would spoil a run is refused before a model is asked, every reason at once, and"
        " nothing is made."
    ),
    "docs-estimate": "Before it begins a run is told what it will probably take.",
    "docs-config-errors": "Mistakes in the configuration are told with their lines, all at once.",
    "docs-key-stays": "A key or token goes to no host that its user did not name.",
    "docs-secrets-struck": (
        "Values that look secret are struck out of the journal and of everything the model is"
        " shown."
    ),
    "docs-same-bytes": "Every question begins with the one before, byte for byte.",
    "docs-malformed": (
        "An answer that cannot be used goes back with the reason, three times, then the phase"
        " fails."
    ),
    "docs-provider-down": (
        "A provider that stays unavailable ends the command; the run goes on at the same question"
        " later."
    ),
    "docs-limits-of-work": "An agent's work ends, with its reason, at the first of its limits.",
    "docs-replay": (
        "A record answers the same question for ever, in other words too, and names what it lacks."
    ),
    "docs-until-once": "How far a run goes belongs to the invocation, not to the run.",
    "docs-no-beginning-in-the-middle": "A new run cannot begin in the middle.",
    "docs-question-outside": (
        "A question changes nothing but the money, and no later phase sees it."
    ),
    "docs-json": "The page about the state has every key of `status --json`, and no other.",
    "docs-hidden-text": (
        "Text of strangers that nobody sees does not reach a model, and that something was removed"
        " is said."
    ),
    "docs-visible-text": "Text that people see is never rewritten.",
    "docs-fence": "What strangers wrote is fenced, and nothing in it gets out of its fence.",
    "docs-edits-inside": "An edit stays inside the work tree, whatever path or link it names.",
    "docs-git-alone": (
        "Git is called without hooks, signing, editors or settings that change what is committed."
    ),
    "docs-gate-commands": (
        "A comment is a command only where the page says so, and one mistyped line stops all of it."
    ),
    "docs-gate-people": (
        "Who may not give commands is refused, and so is everybody GitHub does not answer about."
    ),
}

PROMISES = {**DESIGN, **LESSONS, **BOT, **MCP, **CLI, **DOCS}

SAID: dict[str, dict[str, tuple[str, ...]]] = {
    "README.md": {
        "**The model never holds a tool.** It answers with text and edits; forge-bot looks things up for it, and checks and applies its edits.": (
            "cli-no-tool",
        ),
        "**Your commands decide.** Build, tests and lint run in a sandbox before and after; exit codes count, claims do not. Newly red "
        "tests go back to the implementer, then to you.": ("cli-walls", "cli-before-and-after", "design-own-verification", "lesson-16"),
        "**An unclear verdict never counts as approval.** A review without one clear verdict is asked for again, then you decide.": ("design-unreadable",),
        "**Protected paths wait.** A change to workflows, lock files or agents' instructions is held as a patch until you approve that patch.": (
            "design-protected-paths",
        ),
        "**Nothing is lost.** Kill it anywhere: at most the call in progress is repeated.": ("cli-nothing-lost",),
        "Exit codes: 0 done, 1 failed, 2 usage, 3 waiting for you, 4 budget used up, 5 refused, 6 abandoned.": (
            "design-outcomes", "cli-exit-0", "cli-exit-1", "cli-exit-2", "cli-exit-3", "cli-exit-4", "cli-exit-5", "cli-exit-6",
        ),
        "It does not merge, force-push or amend.": ("design-only-adds", "cli-no-main"),
        "if the text changes, it has to be asked again": ("design-digest", "design-stale-approval"),
        "It works on a branch and in a work tree of its own; what you have not committed is never touched.": ("cli-own-tree",),
        "Without a terminal it stops with exit code 3 and says how to go on": ("cli-exit-3",),
        "approve the version shown; a bare approval means the one you saw last": ("design-bare-approval",),
        "send it back, with your notes in the next prompt": ("design-back-with-notes",),
        "let the model explain what is shown, as often as you like; nothing changes": ("docs-question-outside", "cli-ask"),
        "go on after a stop, a crash, a kill; nothing that was answered is asked again": ("cli-nothing-lost", "cli-resume"),
        "complete commands, runs, phases and documents in your shell": ("cli-completion",),
        "`--until` stops when one is complete, before its review or checkpoint": ("cli-option-until",),
    },
    "SECURITY.md": {
        "It has no shell, no token, no file handle. It answers with text and edits; each is parsed into a closed set of forms.": (
            "cli-no-tool",
        ),
        "Edits stay inside the work tree. Paths that decide what runs or who decides (`.github/`, `.forge/`, lock files, `CODEOWNERS`, "
        "instructions for agents, git's own) are held back as a patch until a person approves that patch by its digest.": (
            "docs-edits-inside", "design-protected-paths",
        ),
        "Hidden text (comments, invisible characters, attributes) is removed from requests before a model reads it, and that is said. "
        "Visible text is never rewritten; what strangers wrote is fenced.": ("docs-hidden-text", "docs-visible-text", "docs-fence"),
        "The project's commands run as argument lists in a sandbox: no secrets in the environment, no network after setup, writing in the "
        "work tree only. `docs/sandbox.md` says what each backend promises. Setup has network, and runs before any edit of a model is "
        "applied.": ("cli-walls", "docs-clean-environment", "docs-own-network", "docs-walls"),
        "Prompts and answers are journalled outside git with the values of secret-looking environment variables struck out.": (
            "docs-secrets-struck",
        ),
    },
    "docs/sandbox.md": {
        "without our environment, without network except for `setup`, writing in the work tree only, within limits": (
            "docs-clean-environment", "docs-own-network", "docs-walls", "docs-limits",
        ),
        "Every box is ended with all it started before the next step begins.": ("docs-limits",),
        "git is called without hooks and file system monitors": ("docs-git-alone",),
        "bubblewrap, else Landlock, else nothing runs": ("docs-refused-backend",),
    },
    "docs/preflight.md": {
        "What would spoil the run is refused (exit code 5, `PREFLIGHT-001`, every reason with its way out; nothing is made: no branch, no "
        "work tree, no record).": ("docs-preflight",),
        "Before the question, and when the run begins:": ("docs-estimate",),
    },
    "docs/configuration.md": {
        "A mistake in it is told with its line, all mistakes at once.": ("docs-config-errors",),
        "no other host is ever sent the token": ("docs-key-stays",),
    },
    "docs/models.md": {
        "every question begins with the one before, byte for byte": ("docs-same-bytes",),
        "it goes back to the model with the reason, three times in a row, then the phase fails": ("docs-malformed",),
        "the command ends; `forge-bot resume` goes on at the same question": ("docs-provider-down",),
        "Each agent's work ends, with its reason, at the first of these.": ("docs-limits-of-work",),
        "Before a question is sent, the most it can cost is set aside": ("design-worst-case",),
        "what was answered is not asked again, what was looked up is not looked up again": ("cli-nothing-lost",),
        "Values of environment variables whose names look like those of keys or tokens are struck out of it, and out of everything the "
        "model is shown.": ("docs-secrets-struck",),
        "gives it to the same question of the same phase and round, even if the words of the question have changed since": ("docs-replay",),
    },
    "docs/parts.md": {
        "it belongs to the invocation, not to the run": ("docs-until-once",),
        "A new run cannot begin in the middle": ("docs-no-beginning-in-the-middle",),
        "**No later phase sees any of it**": ("docs-question-outside",),
    },
    "docs/state.md": {"prints where a run stands as one JSON object and nothing else": ("docs-json",)},
    "docs/github-action.md": {
        "A maintainer puts the label `forge` on an issue, or writes `/forge`.": ("bot-thread",),
        "The run happens in GitHub Actions: every document is committed on the run's branch, questions come as comments and wait for "
        "`/approve`, and at the end there is a pull request.": ("bot-thread",),
        "Counted by a test": ("bot-few-requests",),
        "| a comment without a command | 0 |": ("bot-talk-is-free",),
    },
    "docs/security-model.md": {
        "The supervisor** holds the token, and runs no model and no command of the project.": ("bot-worker-without-token",),
        "The worker** runs the model and holds no token.": ("bot-worker-without-token",),
        "its commits are looked at, one by one, before they are pushed": ("bot-inspected",),
        "a report that only a person or the supervisor can give": ("bot-people-only",),
        "An approval that has no comment of somebody with the role is asked about again before a pull request": ("bot-doubted",),
        "where they are different jobs": ("bot-wall",),
    },
    "docs/mcp.md": {
        "An exit code is never a client's claim.": ("mcp-no-claims",),
        "the question is put through the client, and only that answer counts": ("mcp-elicited",),
        "Decline and cancel are no answer.": ("mcp-elicited",),
        "“Looks good”, “yes, but” and the like are no approval.": ("mcp-plain-yes",),
        "One that is unfit goes back with the heading that is missing, twice; the third is recorded, and the pipeline decides.": (
            "mcp-unfit",
        ),
        "Only what changed since the action was handed out is committed": ("mcp-only-its-files",),
        "In a wave a file goes to the task that declares it.": ("mcp-one-for-each",),
        "The tree must be clean now.": ("mcp-clean",),
        "Asked again without a report, the same action comes again": ("mcp-asked-again",),
        "A report counts once.": ("mcp-effect",),
        "Thirteen, by `tools/list` at most 1,500 tokens.": ("mcp-tools",),
        "a status of some twenty tokens": ("mcp-orient",),
        "Arguments that do not exist are refused.": ("mcp-strict",),
        "It listens on this machine only. Each request shows the token": ("mcp-http",),
        "calls for one run wait for each other, all others do not": ("mcp-many",),
        "Without a run, hooks stop nothing but answers": ("mcp-hooks",),
        "Who listens is told when a run goes on": ("mcp-listeners",),
    },
    "docs/temporal.md": {
        "one workflow for an issue, one update for an event": ("bot-temporal-door",),
    },
    "docs/commands.md": {
        "**If one line is mistyped, none of the comment is**": ("docs-gate-commands",),
        "**every case in which GitHub does not answer**": ("docs-gate-people",),
    },
}  # fmt: skip
"""What pages say to users, by page: the sentence, and the promises in it. A sentence that is
changed there has to be changed here."""
