import type { NetworkName } from '../../schema/network.ts';
import type { VariableFault } from './fault.ts';
import { type Environment, mayBeEmpty, type VariableName } from './variables.ts';

/** The stand-in for each variable that is unset: a development service, or a secret that is generated once in DATA_DIR. */
export const substitutes = {
  DATABASE_URL: 'an embedded Postgres',
  BASE_RPC_URL: 'a development chain',
  FACILITATOR_KEYS: 'public settlement keys',
  HUBS: 'two development hubs',
  PAY_TO_BASE: 'a generated treasury address',
  ISSUER_KEYS: 'a generated key',
  SEAL_KEY: 'a generated secret',
  SUBGRAPH_SECRET: 'a generated secret',
  ANCHOR_KEY: 'a generated key',
  API_KEYS: 'a generated key',
  DEMO_KEYS: 'a generated key',
  WAIVER_KEYS: 'a generated key',
  BOARD_OPS_SECRET: 'a generated secret',
  BOARD_INBOUND_SECRET: 'a generated secret',
  SOLANA_RPC_URL: 'a development Solana chain',
  SOLANA_FEE_PAYER_KEY: 'a public fee payer key',
  PAY_TO_SOLANA: 'a generated treasury address',
  ROUTER_URL: 'a development router',
} as const satisfies Partial<Record<VariableName, string>>;

export type SubstitutedName = keyof typeof substitutes;

/** Variables that are not required if the given other variable is set, because a facilitator settles with its own keys. */
export const unneededWith: Partial<Record<SubstitutedName, VariableName>> = {
  FACILITATOR_KEYS: 'FACILITATOR_URL',
  SOLANA_FEE_PAYER_KEY: 'FACILITATOR_URL',
};

const solanaNames = [
  'SOLANA_RPC_URL',
  'SOLANA_FEE_PAYER_KEY',
  'PAY_TO_SOLANA',
] as const satisfies readonly VariableName[];

export function simulatedNetworks(stand_ins: readonly SubstitutedName[]): readonly NetworkName[] {
  const chains = { base: 'BASE_RPC_URL', solana: 'SOLANA_RPC_URL' } as const satisfies Record<
    NetworkName,
    SubstitutedName
  >;
  return (Object.keys(chains) as NetworkName[]).filter(network => stand_ins.includes(chains[network]));
}

/**
 * Whether payments on Solana are turned off: an empty value of one of the three variables means "without Solana". With a
 * facilitator the fee payer key does not count.
 */
export function withoutSolana(environment: Environment): boolean {
  const needed = environment.FACILITATOR_URL
    ? solanaNames.filter(name => name !== 'SOLANA_FEE_PAYER_KEY')
    : solanaNames;
  return needed.some(name => environment[name] === '');
}

/** Unset variables that are replaced by a stand-in. If there are any, the profile is development. */
export function substitutesInUse(environment: Environment): SubstitutedName[] {
  const unused = new Set<string>(withoutSolana(environment) ? solanaNames : []);
  return unset(environment).filter(name => !unused.has(name));
}

/** Faults of all variables that a stand-in would replace, which production refuses. */
export function productionFaults(environment: Environment): VariableFault[] {
  return unset(environment).map(variable => {
    const what = substitutes[variable];
    const way_out = mayBeEmpty.has(variable) ? '; set it to an empty value for none' : '';
    return { variable, problem: `not set; set it, because only development replaces it with ${what}${way_out}` };
  });
}

function unset(environment: Environment): SubstitutedName[] {
  return (Object.keys(substitutes) as SubstitutedName[]).filter(name => {
    const instead = unneededWith[name];
    if (instead && environment[instead]) return false;
    return mayBeEmpty.has(name) ? environment[name] === undefined : !environment[name];
  });
}
