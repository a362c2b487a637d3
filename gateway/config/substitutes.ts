import type { VariableFault } from './fault.ts';
import { type Environment, mayBeEmpty, type VariableName } from './variables.ts';

/**
 * What takes the place of an unset variable. `stand_in`: a development service. `made_up`: a secret made once under
 * DATA_DIR. `left_out`: nothing does, the feature is absent; production wants that said, by setting it to nothing.
 */
const substitutes = {
  DATABASE_URL: ['stand_in', 'an embedded Postgres'],
  BASE_RPC_URL: ['stand_in', 'a development chain'],
  FACILITATOR_KEYS: ['stand_in', 'settlement keys that all the world knows'],
  HUBS: ['stand_in', 'two development hubs'],
  PAY_TO_BASE: ['made_up', 'a treasury address whose key lies in DATA_DIR'],
  ISSUER_KEYS: ['made_up', 'a signing key'],
  SEAL_KEY: ['made_up', 'a sealing key'],
  SUBGRAPH_SECRET: ['made_up', 'a secret between processes'],
  ANCHOR_KEY: ['made_up', 'an anchor key'],
  API_KEYS: ['made_up', 'one key'],
  DEMO_KEYS: ['made_up', 'one key'],
  WAIVER_KEYS: ['made_up', 'one key'],
  BOARD_OPS_SECRET: ['made_up', 'a shared secret'],
  BOARD_INBOUND_SECRET: ['made_up', 'a shared secret'],
  SOLANA_RPC_URL: ['left_out', 'payments on Solana'],
  SOLANA_FEE_PAYER_KEY: ['left_out', 'settlement on Solana'],
  PAY_TO_SOLANA: ['left_out', 'payments on Solana'],
  ROUTER_URL: ['left_out', 'router/* models'],
} as const satisfies Partial<Record<VariableName, readonly [kind: string, what: string]>>;

export type SubstitutedName = keyof typeof substitutes;

/** A facilitator settles with keys of its own. */
const needless: Partial<Record<SubstitutedName, VariableName>> = {
  FACILITATOR_KEYS: 'FACILITATOR_URL',
  SOLANA_FEE_PAYER_KEY: 'FACILITATOR_URL',
};

/** Names of unset variables for which something else is in use: not empty means a development profile. */
export function substitutesInUse(environment: Environment): SubstitutedName[] {
  return unset(environment).filter(name => substitutes[name][0] !== 'left_out');
}

/** What production refuses: every variable that would be substituted, and what would take its place. */
export function productionFaults(environment: Environment): VariableFault[] {
  return unset(environment).map(variable => {
    const [kind, what] = substitutes[variable];
    const way_out = mayBeEmpty.has(variable) ? '; set it to nothing for none' : '';
    const fact =
      kind === 'left_out'
        ? `not set, and decides about ${what}`
        : `not set; only in development ${what} takes its place`;
    return { variable, problem: `${fact}${way_out}` };
  });
}

function unset(environment: Environment): SubstitutedName[] {
  return (Object.keys(substitutes) as SubstitutedName[]).filter(name => {
    const instead = needless[name];
    if (instead && environment[instead]) return false;
    return mayBeEmpty.has(name) ? environment[name] === undefined : !environment[name];
  });
}
