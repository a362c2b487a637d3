export interface VariableFault {
  readonly variable: string;
  readonly problem: string;
}

/** All that is wrong with the environment, at once: one line per variable. Values are never shown. */
export class ConfigFault extends Error {
  readonly faults: readonly VariableFault[];

  constructor(faults: readonly VariableFault[]) {
    const lines = faults.map(({ variable, problem }) => `  ${variable}: ${problem}`);
    super(`The configuration cannot be used:\n${lines.join('\n')}`);
    this.name = 'ConfigFault';
    this.faults = faults;
  }
}
