/* Faults that an operator can correct: each ends a start with one line and no stack. */

export interface VariableFault {
  readonly variable: string;
  readonly problem: string;
}

/** A fault that an operator can correct. Its message says what is wrong and what to do, and contains no secret. */
export class OperatorFault extends Error {
  override name = 'OperatorFault';
}

/** A fault in the arguments of a command. Without a message they are missing, and its usage says all. */
export class UsageFault extends OperatorFault {
  override name = 'UsageFault';
}

/**
 * Every fault of the environment, or of what a variable names: one line per variable. Values are never shown, except
 * addresses and paths.
 */
export class ConfigFault extends OperatorFault {
  override name = 'ConfigFault';
  readonly faults: readonly VariableFault[];

  /** `hint` ends each line. */
  constructor(faults: readonly VariableFault[], { hint = '', ...options }: ErrorOptions & { hint?: string } = {}) {
    super(faults.map(({ variable, problem }) => `${variable}: ${problem}${hint}`).join('\n'), options);
    this.faults = faults;
  }
}
