// The errors of operations that cannot do their work.

/** A command cannot do its work, for a reason that its user can fix. Never contains secrets. */
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

/** The operator was disabled, or lost the role, after the request arrived. */
export class ActorError extends CommandError {
  constructor() {
    super('You are no longer an operator.');
    this.name = 'ActorError';
  }
}

/** An operation's input breaks a rule. */
export class InputError extends CommandError {
  /**
   * @param member the invalid property
   * @param rule in words that follow the property's name
   */
  constructor(
    readonly member: string,
    readonly rule: string,
  ) {
    super(`${member} ${rule}.`);
    this.name = 'InputError';
  }
}
