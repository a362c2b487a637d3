/* Faults that an operator can correct. The process ends with the message of the fault and without a stack trace. */

export interface VariableFault {
  readonly variable: string;
  readonly problem: string;
}

/** A fault that an operator can correct. Its message explains what is wrong and what to do, and contains no secret. */
export class OperatorFault extends Error {
  override name = 'OperatorFault';
}

/** A fault in the arguments of a command. Without a message the arguments are missing, and only the usage is shown. */
export class UsageFault extends OperatorFault {
  override name = 'UsageFault';
}

/**
 * All faults of the environment, and of files or services that variables name, one line per variable. Values are never shown,
 * except addresses and paths.
 */
export class ConfigFault extends OperatorFault {
  override name = 'ConfigFault';
  readonly faults: readonly VariableFault[];

  /** `hint` is appended to each line. */
  constructor(faults: readonly VariableFault[], { hint = '', ...options }: ErrorOptions & { hint?: string } = {}) {
    super(faults.map(({ variable, problem }) => `${variable}: ${problem}${hint}`).join('\n'), options);
    this.faults = faults;
  }
}
