import { z } from 'zod';
import { limits } from '../../schema/limits.ts';
import { verifierKey } from '../../subgraphs/receipt/verify/verifier-key.ts';
import { facilitatorAuth } from './facilitator-auth.ts';
import {
  areProxies,
  atomicUsdc,
  baseAddress,
  contactUri,
  decimal,
  dollars,
  httpUrl,
  jsonOf,
  keySeed,
  list,
  origin,
  placeUrl,
  privateKey,
  secret,
  seed,
  withoutSlash,
} from './forms.ts';
import { hub } from './hub.ts';
import { type RateName, rate, usualRate } from './rates.ts';
import { solanaAddress, solanaKey } from './solana.ts';

/** Who vouches for the log's checkpoints (https://c2sp.org/tlog-witness). */
export const witness = z.strictObject({
  url: placeUrl().transform(withoutSlash).describe('where it takes them: `/add-checkpoint` below it'),
  key: z
    .string()
    .refine(text => verifierKey(text)?.kind === 'cosignature', 'not the verifier key of a witness: <name>+<id>+<key>')
    .describe('by which its cosignatures are believed'),
});

/** A note of more signatures than this is read by few. */
export const WITNESSES_MAX = 12;

export type WitnessConfig = z.infer<typeof witness>;

/** Each is one more that a signature is checked under, where it is nobody's under those before it. */
const FORMER_BASE_URLS_MAX = 4;

export const subgraphNames = ['book', 'board', 'receipt', 'session'] as const;
export type SubgraphName = (typeof subgraphNames)[number];

/** Of Coinbase Smart Wallet, v1 and v1.1: what most wallets on Base that do not stand yet are made by. */
const coinbaseFactories = [
  '0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a',
  '0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842',
] as const;

const rateOf = (name: RateName, description: string) =>
  rate()
    .optional()
    .meta({ description, unset: usualRate(name) });

/** One row per variable of the environment. A row that is not set, or set to nothing, is left undefined. */
export const variables = z.object({
  HOST: z.string().default('127.0.0.1').describe('where it listens'),
  PORT: decimal(1, 65_535).default(4000).describe('the port there'),
  BASE_URL: httpUrl().transform(withoutSlash).optional().meta({
    description: 'what the service calls itself: in receipts, offers and documents',
    unset: 'http, `HOST` and `PORT`',
  }),
  FORMER_BASE_URLS: list(httpUrl().transform(withoutSlash))
    .refine(urls => urls.length <= FORMER_BASE_URLS_MAX, `more than ${FORMER_BASE_URLS_MAX}`)
    .default([])
    .meta({
      description: `each \`BASE_URL\` that the service had before, ${FORMER_BASE_URLS_MAX} at most: signatures of wallets and sessions for one of them are still valid`,
      unset: 'no former address',
    }),
  DATA_DIR: z.string().default('.data').describe('embedded database, chains, saved head, development files'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'not a postgresql:// URL' })
    .meta({ form: 'postgresql URL' })
    .optional()
    .describe('a Postgres server'),
  DATABASE_CONNECTIONS_MAX: decimal(4, 1_000)
    .default(limits.database_connections_max_default)
    .describe('connections to Postgres by which a process answers calls; it has up to ten beside these'),
  DATABASE_PLAIN: z.literal('intended').optional().meta({
    description: 'production takes a Postgres on another machine without TLS (no `sslmode` of `require` or stricter)',
    unset: 'such a server is refused in production',
  }),
  BASE_RPC_URL: httpUrl().optional().describe('an RPC of Base'),
  SOLANA_RPC_URL: httpUrl().optional().describe('an RPC of Solana'),
  NANO_RPC_URL: httpUrl().optional().meta({
    description: 'an RPC of Nano, where payments that were made to others in XNO are looked up',
    unset: 'none is looked up',
  }),
  FACILITATOR_URL: httpUrl().transform(withoutSlash).optional().meta({
    description: 'an x402 v2 facilitator that settles in place of our own keys',
    unset: 'settle in process with `FACILITATOR_KEYS` and `SOLANA_FEE_PAYER_KEY`',
  }),
  FACILITATOR_AUTH: facilitatorAuth().optional().meta({
    description:
      'by what the facilitator knows us: a token, or a key of the Coinbase Developer Platform that signs one per request',
    unset: 'nothing is shown to it',
  }),
  FACILITATOR_KEYS: list(privateKey()).optional().describe('private keys that pay the gas of settlements'),
  SETTLE_FEE_MAX: atomicUsdc()
    .default(limits.settle_fee_atomic_default)
    .meta({
      description: 'gas money for one payment: its share of the transaction that settles it',
      unset: `${limits.settle_fee_atomic_default}, twice the price of a call: an assumption`,
    }),
  SETTLE_FEE_DAY_MAX: atomicUsdc()
    .default(limits.settle_fee_day_atomic_default)
    .describe('the same for all settlements of a UTC day, over all processes'),
  ETH_USD: dollars().optional().meta({
    description: 'the price of one ether; set, no feed is asked',
    unset: 'Chainlink’s feed on Base; 1 on a development chain',
  }),
  WALLET_FACTORIES: list(baseAddress())
    .default([...coinbaseFactories])
    .meta({
      description:
        'factories that may deploy a paying contract wallet (ERC-6492) with the settler’s gas; nothing for none',
      unset: 'the two of Coinbase Smart Wallet',
    }),
  SOLANA_FEE_PAYER_KEY: solanaKey().optional().describe('who pays the fees on Solana'),
  PAY_TO_BASE: baseAddress().optional().describe('treasury address on Base'),
  PAY_TO_SOLANA: solanaAddress().optional().describe('treasury address on Solana; its USDC account has to stand'),
  HUBS: jsonOf(z.array(hub).min(1).refine(distinctNames, 'two hubs share a name'))
    .optional()
    .describe('OpenAI-compatible hubs, member by member below'),
  HUB_TIMEOUT_MS: decimal(1, limits.hubs_timeout_ms)
    .default(limits.hub_timeout_ms)
    .describe('how long one hub may take over its answer before the next is asked'),
  ROUTER_URL: placeUrl()
    .transform(withoutSlash)
    .optional()
    .describe('the third-party router that answers `router/*` under its callers’ own keys'),
  ROUTER_MODELS: list(z.string())
    .default([])
    .describe('the router’s models, listed and no others taken, where it tells nobody without a key'),
  ISSUER_KEYS: list(seed())
    .optional()
    .describe(
      'signing seeds, current first; a former seed may be left out once every process has the seed that replaced it',
    ),
  SEAL_KEY: secret().optional().describe('seals answers and keys that are kept or handed on'),
  SUBGRAPH_SECRET: secret().optional().describe('authenticates gateway and subgraphs to each other'),
  ANCHOR_KEY: keySeed().optional().describe('sends the log’s head to Base; one key for one log'),
  ANCHOR_SECONDS: decimal(1, 604_800).optional().meta({
    description:
      'how often the head is anchored, where the log has grown; with a made-up `ANCHOR_KEY` on a development chain alone',
    unset: '30 in development, 3600 in production',
  }),
  ANCHOR_FEE_DAY_MAX: decimal(0, 999_999_999).optional().meta({
    description: 'what anchors may cost in a UTC day, in gwei, as there is no price to ask for here; 0: none is sent',
    unset: '500000000 in development, 1000000 (0.001 ETH) in production',
  }),
  API_KEYS: list(z.string().min(1)).optional().describe('keys that stand in for the payment of work'),
  DEMO_KEYS: list(z.string().min(1)).optional().describe('the same, and they write nothing'),
  WAIVER_KEYS: list(z.string().min(1))
    .optional()
    .describe('keys of pilots for whom it costs nothing to record a payment to others; they open nothing else'),
  METRICS_TOKEN: secret().optional().meta({
    description: 'bearer token of `GET /metrics` (Prometheus)',
    unset: 'open in development, 404 in production',
  }),
  RATE_FREE: rateOf('free', 'free endpoints, queries and socket operations of one address, in each process'),
  RATE_CREDENTIALS: rateOf('credentials', 'sessions, proofs and keys of one address that are nobody’s'),
  RATE_UNPROVEN: rateOf('unproven', 'payments of one address that prove no payer'),
  RATE_UNCHARGED: rateOf(
    'uncharged',
    'uncharged requests that a hub or the router refused or had no room for, of one payer or API key, and ten times as many of one address; likewise tasks that a payer canceled; and refused router keys and grants of one payer, API key or address',
  ),
  RATE_INGESTS: rateOf('ingests', 'payments to others that their chain does not show, of one payer and of one agent'),
  BODIES_BYTES_MAX: decimal(1, 999_999_999)
    .optional()
    .meta({
      description: 'bytes of bodies on their way from one address at once that nobody has paid for',
      unset: usualRate('bodies_bytes_max'),
    }),
  TRUSTED_PROXIES: list(z.string()).refine(areProxies, 'not addresses, networks or their names').default([]).meta({
    description:
      'addresses or networks whose `X-Forwarded-For` says where a request comes from; also `loopback`, `linklocal`, `uniquelocal`',
    unset: 'nobody’s is believed',
  }),
  CORS_ORIGINS: list(origin())
    .default(['*'])
    .describe('whose pages may call the endpoints and `/graphql`; nothing for none'),
  SECURITY_CONTACT: list(contactUri()).optional().meta({
    description: 'whom to tell of a hole, in `/.well-known/security.txt` (RFC 9116)',
    unset: '`security@` the host of `BASE_URL` (RFC 2142)',
  }),
  DRAIN_MS: decimal(0, limits.stop_ms_max)
    .optional()
    .meta({
      description: 'how long a stopping process still takes connections while `/readyz` says 503',
      unset: `0 in development, ${limits.drain_ms} in production`,
    }),
  LOG_ENTRIES: z
    .enum(['none', 'public'])
    .default('none')
    .describe(
      '`public`: strangers may have what the leaves of the log are of, which names wallets; hashes they have anyway',
    ),
  WITNESSES: jsonOf(z.array(witness).max(WITNESSES_MAX).refine(distinctKeys, 'two witnesses share a key'))
    .optional()
    .meta({
      description:
        'who cosigns the log’s checkpoints (C2SP tlog-witness): a list of `{"url": …, "key": …}`, where it takes them and its verifier key',
      unset: 'none: checkpoints go out without',
    }),
  PROOF_WRITES: z
    .enum(['plain', 'bound'])
    .default('plain')
    .describe('`bound`: a plain book proof only reads, and a write wants the form that is bound to its request'),
  STOP_MS: decimal(0, limits.stop_ms_max)
    .default(limits.stop_ms)
    .describe('how long a stop may take; what is left then, reconcile finishes'),
  BOARD_OPS_SECRET: z
    .string()
    .optional()
    .describe('shared secret of the board’s operators, who hide what stands there'),
  BOARD_INBOUND_SECRET: z.string().optional().describe('shared secret of the board’s inbound endpoint'),
  SUBGRAPH_URLS: jsonOf(z.partialRecord(z.enum(subgraphNames), placeUrl().transform(withoutSlash)))
    .optional()
    .meta({ description: 'subgraphs that run as processes of their own, name to URL', unset: 'all in process' }),
  EVENTS_URL: z.url('not a URL').meta({ form: 'URL' }).optional().describe('events beyond Postgres’s NOTIFY'),
  INTROSPECTION: z
    .enum(['on', 'off'])
    .optional()
    .meta({ description: 'of the GraphQL schema', unset: '`on` in development, `off` in production' }),
  NODE_ENV: z
    .enum(['development', 'production', 'test'], 'neither development, production nor test')
    .default('development')
    .describe('`production`: the last column holds; `test`: webhooks may be plain http, and on this machine'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('from what on a line is logged'),
});

export type VariableName = keyof typeof variables.shape;
export type Variables = z.infer<typeof variables>;
export type HubConfig = Readonly<z.infer<typeof hub>>;

export type Environment = Readonly<Record<string, string | undefined>>;

export const emptyLists: ReadonlySet<string> = new Set<VariableName>([
  'API_KEYS',
  'DEMO_KEYS',
  'WAIVER_KEYS',
  'WALLET_FACTORIES',
  'CORS_ORIGINS',
]);

/** Of these, set to nothing says "none": no such keys, or without that network. Unset says "find something". */
export const mayBeEmpty: ReadonlySet<string> = new Set<VariableName>([
  ...(['API_KEYS', 'DEMO_KEYS', 'WAIVER_KEYS', 'ROUTER_URL'] as const),
  ...(['SOLANA_RPC_URL', 'SOLANA_FEE_PAYER_KEY', 'PAY_TO_SOLANA'] as const),
]);

function distinctKeys(witnesses: readonly { key: string }[]): boolean {
  return new Set(witnesses.map(({ key }) => key)).size === witnesses.length;
}

function distinctNames(hubs: readonly { name: string }[]): boolean {
  return new Set(hubs.map(({ name }) => name)).size === hubs.length;
}
