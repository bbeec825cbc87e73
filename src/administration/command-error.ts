// The errors by which an operation says that it cannot do its work.

/** A command cannot do its work, for a reason that its user can do something about. Never holds secret values. */
export class CommandError extends Error {
  /** @param details one line each, listed below the message */
  constructor(
    readonly summary: string,
    readonly details: readonly string[] = [],
  ) {
    super([summary, ...details.map((line) => `  - ${line}`)].join('\n'));
    this.name = 'CommandError';
  }
}

/** The operator was disabled, or has lost the role, since the request came in. */
export class ActorError extends CommandError {
  constructor() {
    super('You are no longer an operator.');
    this.name = 'ActorError';
  }
}

/** An input of an operation breaks a rule. */
export class InputError extends CommandError {
  /**
   * @param member of the input that breaks it
   * @param rule in words that follow the member's name
   */
  constructor(
    readonly member: string,
    readonly rule: string,
  ) {
    super(`${member} ${rule}.`);
    this.name = 'InputError';
  }
}
