import type { VariableFault } from './fault.ts';
import { type Environment, mayBeEmpty, type VariableName } from './variables.ts';

/** What takes the place of an unset variable: a development service, or a secret made once under DATA_DIR. */
export const substitutes = {
  DATABASE_URL: 'an embedded Postgres',
  BASE_RPC_URL: 'a development chain',
  FACILITATOR_KEYS: 'settlement keys that all the world knows',
  HUBS: 'two development hubs',
  PAY_TO_BASE: 'a treasury address whose key lies in DATA_DIR',
  ISSUER_KEYS: 'a signing key',
  SEAL_KEY: 'a sealing key',
  SUBGRAPH_SECRET: 'a secret between processes',
  ANCHOR_KEY: 'an anchor key',
  API_KEYS: 'one key',
  DEMO_KEYS: 'one key',
  WAIVER_KEYS: 'one key',
  BOARD_OPS_SECRET: 'a shared secret',
  BOARD_INBOUND_SECRET: 'a shared secret',
  SOLANA_RPC_URL: 'a development Solana',
  SOLANA_FEE_PAYER_KEY: 'a fee payer whose key all the world knows',
  PAY_TO_SOLANA: 'a treasury address whose key lies in DATA_DIR',
  ROUTER_URL: 'a development router',
} as const satisfies Partial<Record<VariableName, string>>;

export type SubstitutedName = keyof typeof substitutes;

/** Not needed where that variable is set: a facilitator settles with keys of its own. */
export const needless: Partial<Record<SubstitutedName, VariableName>> = {
  FACILITATOR_KEYS: 'FACILITATOR_URL',
  SOLANA_FEE_PAYER_KEY: 'FACILITATOR_URL',
};

const solanaNames = [
  'SOLANA_RPC_URL',
  'SOLANA_FEE_PAYER_KEY',
  'PAY_TO_SOLANA',
] as const satisfies readonly VariableName[];

/** One of the three set to nothing says "without Solana"; a facilitator needs no key of ours. */
export function withoutSolana(environment: Environment): boolean {
  const needed = environment.FACILITATOR_URL
    ? solanaNames.filter(name => name !== 'SOLANA_FEE_PAYER_KEY')
    : solanaNames;
  return needed.some(name => environment[name] === '');
}

/** Names of unset variables for which something else is in use: not empty means a development profile. */
export function substitutesInUse(environment: Environment): SubstitutedName[] {
  const unused = new Set<string>(withoutSolana(environment) ? solanaNames : []);
  return unset(environment).filter(name => !unused.has(name));
}

/** What production refuses: every variable that would be substituted, and what would take its place. */
export function productionFaults(environment: Environment): VariableFault[] {
  return unset(environment).map(variable => {
    const what = substitutes[variable];
    const way_out = mayBeEmpty.has(variable) ? '; set it to nothing for none' : '';
    return { variable, problem: `not set; only in development ${what} takes its place${way_out}` };
  });
}

function unset(environment: Environment): SubstitutedName[] {
  return (Object.keys(substitutes) as SubstitutedName[]).filter(name => {
    const instead = needless[name];
    if (instead && environment[instead]) return false;
    return mayBeEmpty.has(name) ? environment[name] === undefined : !environment[name];
  });
}
