/* Faults that an operator can mend: they end a start with one line each, and no stack. */

export interface VariableFault {
  readonly variable: string;
  readonly problem: string;
}

/** What an operator can mend. Its message says what is wrong and what to do, shows no secret, and needs no stack. */
export class OperatorFault extends Error {
  override name = 'OperatorFault';
}

/**
 * All that is wrong with the environment, or with what a variable of it names, at once: one line per variable. Values
 * are never shown, but for places.
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
