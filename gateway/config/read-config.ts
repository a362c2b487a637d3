import { addressOfKey } from '../../schema/secp256k1.ts';
import type { WebhookReach } from '../../schema/webhook/url.ts';
import { keptSecret, makeDataFolder } from './data-folder.ts';
import { ConfigFault, type VariableFault } from './fault.ts';
import { variablesWithoutEffect } from './idle-variables.ts';
import { knownKeyFaults, plainHttpFaults, plainPostgresFaults, weakSecretFaults } from './production-faults.ts';
import { type RateSettings, ratesOf } from './rates.ts';
import { addressOfSeed, type SolanaConfig } from './solana.ts';
import { productionFaults, type SubstitutedName, substitutesInUse, withoutSolana } from './substitutes.ts';
import {
  type Environment,
  emptyLists,
  type SubgraphName,
  type VariableName,
  type Variables,
  variables,
} from './variables.ts';

/** The environment as it was read: each variable by its name in lower case, null if it is unset. */
export type Settings = Readonly<{
  [K in keyof Variables as Lowercase<K>]-?: undefined extends Variables[K]
    ? Exclude<Variables[K], undefined> | null
    : Variables[K];
}> & {
  readonly base_url: string;
  /** `base_url`, followed by FORMER_BASE_URLS. */
  readonly base_urls: readonly string[];
  readonly rates: RateSettings;
  /** Whether the environment turns payments on Solana off. */
  readonly without_solana: boolean;
  /** Unset variables that are replaced by a stand-in or a generated secret. */
  readonly stand_ins: readonly SubstitutedName[];
  /** `development` if any stand-in is used. */
  readonly profile: 'development' | 'production';
  /** Variables that are set without effect. */
  readonly without_effect: readonly VariableFault[];
  /** Only tests allow webhooks to this machine or over http. */
  readonly webhook_reach: WebhookReach;
};

const WHERE_TO_LOOK = ' (see gateway/config/README.md)';

/** Variables of the specification that no code reads yet. */
export const unreadVariables = ['EVENTS_URL'] as const satisfies readonly VariableName[];

/** Checks of faults that only production refuses. All faults are reported at once. */
const refusedInProduction = [
  productionFaults,
  knownKeyFaults,
  weakSecretFaults,
  plainHttpFaults,
  plainPostgresFaults,
] as const;

type WithValues<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]: NonNullable<T[P]> };

type Secrets = 'issuer_keys' | 'seal_key' | 'subgraph_secret' | 'anchor_key' | 'pay_to_base' | 'pay_to_solana';
type Keys = 'api_keys' | 'demo_keys' | 'waiver_keys' | 'board_ops_secret' | 'board_inbound_secret';
type Services = 'database_url' | 'base_rpc_url' | 'facilitator_keys' | 'hubs' | 'subgraph_urls';

/** The settings with all secrets. */
export type CompleteConfig = WithValues<Settings, Secrets | Keys>;
/** The settings with all secrets and all services, as the gateway needs them. */
export type Config = WithValues<CompleteConfig, Services> & {
  /** Settings of payments on Solana; null if they are not offered. */
  readonly solana: SolanaConfig | null;
  /** Settings of the router; null if no `router/*` model is served. */
  readonly router: { readonly base_url: string; readonly models: readonly string[] } | null;
};

/**
 * Reads the settings of the service from the environment. @throws ConfigFault with all faults at once; with NODE_ENV=production
 * also with all missing variables
 */
export function readConfig(environment: Environment = process.env): Settings {
  const read = variables.safeParse(givenValues(environment));
  const faults: VariableFault[] = read.success
    ? []
    : read.error.issues.map(({ path, message }) => ({ variable: path.join('.'), problem: message }));
  // The start is refused, so that no operator relies on a variable that has no effect.
  for (const variable of unreadVariables)
    if (environment[variable]) faults.push({ variable, problem: 'not supported yet; unset it' });
  faults.push(...facilitatorAuthFaults(environment));
  if (environment.NODE_ENV === 'production')
    for (const faultsOf of refusedInProduction) faults.push(...faultsOf(environment));
  if (!read.success || faults.length > 0) throw new ConfigFault(faults, { hint: WHERE_TO_LOOK });

  const named = Object.keys(variables.shape).map(name => [
    name.toLowerCase(),
    read.data[name as keyof Variables] ?? null,
  ]);
  const stand_ins = substitutesInUse(environment);
  const profile = stand_ins.length > 0 ? 'development' : 'production';
  const base_url = read.data.BASE_URL ?? `http://${reachableHost(read.data.HOST)}:${read.data.PORT}`;
  return deepFreeze({
    ...(Object.fromEntries(named) as Settings),
    without_solana: withoutSolana(environment),
    base_url,
    base_urls: [...new Set([base_url, ...read.data.FORMER_BASE_URLS])],
    stand_ins,
    without_effect: variablesWithoutEffect(environment),
    profile,
    webhook_reach: environment.NODE_ENV === 'test' ? 'local' : 'public',
    rates: ratesOf(read.data, profile),
  });
}

/** Fault of a credential without the facilitator's URL, which is a mistake. */
function facilitatorAuthFaults({ FACILITATOR_AUTH, FACILITATOR_URL }: Environment): VariableFault[] {
  if (!FACILITATOR_AUTH || FACILITATOR_URL) return [];
  return [
    {
      variable: 'FACILITATOR_AUTH',
      problem: 'set without FACILITATOR_URL, so it is sent to no facilitator; set both or neither',
    },
  ];
}

/** Default ports of subgraphs. All four can run on one machine together with a gateway. */
const subgraphPorts: Readonly<Record<SubgraphName, string>> = {
  receipt: '4001',
  book: '4002',
  session: '4003',
  board: '4004',
};

/**
 * Reads the environment of a process that serves one subgraph. BASE_URL is its gateway's, because receipts and offers contain it:
 * production requires it, development uses the gateway's default.
 * @throws ConfigFault as `readConfig` does
 */
export function readSubgraphConfig(name: SubgraphName, environment: Environment = process.env): Settings {
  const { PORT, BASE_URL, NODE_ENV } = environment;
  if (NODE_ENV === 'production' && !BASE_URL)
    throw new ConfigFault([
      { variable: 'BASE_URL', problem: 'not set; set it to the BASE_URL of the gateway of this subgraph' },
    ]);
  const gateway = BASE_URL || readConfig({}).base_url;
  return readConfig({ ...environment, PORT: PORT || subgraphPorts[name], BASE_URL: gateway });
}

/** Removes empty values, which count as unset, except those of lists that may be empty. */
function givenValues(environment: Environment): Environment {
  const counts = ([name, value]: [string, string | undefined]) => value || (value === '' && emptyLists.has(name));
  return Object.fromEntries(Object.entries(environment).filter(counts));
}

/** Replaces each unset secret by one that is generated once and stored in DATA_DIR. */
export async function completeConfig(settings: Settings): Promise<CompleteConfig> {
  const data_dir = await makeDataFolder(settings.data_dir);
  const kept = (name: string, make = (random: string) => random) => keptSecret(data_dir, name, make);
  const keptKeys = async (name: string) => [
    await kept(name, random => `svc_${name.split('_')[0]}_${random.slice(0, 48)}`),
  ];
  const treasury = async () => addressOfKey(Buffer.from(await kept('pay_to_base_key'), 'hex'));
  return deepFreeze({
    ...settings,
    data_dir,
    pay_to_base: settings.pay_to_base ?? (await treasury()),
    pay_to_solana: settings.pay_to_solana ?? addressOfSeed(await kept('pay_to_solana_key')),
    issuer_keys: settings.issuer_keys ?? [await kept('issuer_key')],
    seal_key: settings.seal_key ?? (await kept('seal_key')),
    subgraph_secret: settings.subgraph_secret ?? (await kept('subgraph_secret')),
    anchor_key: settings.anchor_key ?? (await kept('anchor_key')),
    api_keys: settings.api_keys ?? (await keptKeys('live_api_key')),
    demo_keys: settings.demo_keys ?? (await keptKeys('demo_api_key')),
    waiver_keys: settings.waiver_keys ?? (await keptKeys('waiver_key')),
    board_ops_secret: settings.board_ops_secret ?? (await kept('board_ops_secret')),
    board_inbound_secret: settings.board_inbound_secret ?? (await kept('board_inbound_secret')),
  });
}

/** A host to connect to: loopback if the service listens on all addresses. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

export { type HubConfig, type SubgraphName, subgraphNames } from './variables.ts';

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}

/** The configuration if the environment names all services; null if one of them needs a stand-in. */
export function namedServices(complete: CompleteConfig): Config | null {
  const { database_url, base_rpc_url, hubs, router_url, router_models: models } = complete;
  // A facilitator settles with its own keys, so none are required here.
  const facilitator_keys = complete.facilitator_keys ?? (complete.facilitator_url ? [] : null);
  const solana = complete.without_solana ? null : namedSolana(complete);
  if (!database_url || !base_rpc_url || !hubs || !facilitator_keys || solana === 'unnamed') return null;
  const router = router_url === null ? null : { base_url: router_url, models };
  const subgraph_urls = complete.subgraph_urls ?? {};
  return { ...complete, database_url, base_rpc_url, hubs, facilitator_keys, solana, router, subgraph_urls };
}

function namedSolana(complete: CompleteConfig): SolanaConfig | 'unnamed' {
  const { solana_rpc_url: rpc_url, pay_to_solana: pay_to, facilitator_url } = complete;
  const fee_payer_key = facilitator_url ? null : complete.solana_fee_payer_key;
  if (!rpc_url || (!facilitator_url && !fee_payer_key)) return 'unnamed';
  return { rpc_url, pay_to, fee_payer_key };
}
