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

/** A witness that cosigns the log's checkpoints (https://c2sp.org/tlog-witness). */
export const witness = z.strictObject({
  url: placeUrl().transform(withoutSlash).describe('URL that checkpoints are submitted to, without `/add-checkpoint`'),
  key: z
    .string()
    .refine(text => verifierKey(text)?.kind === 'cosignature', 'not the verifier key of a witness: <name>+<id>+<key>')
    .describe('verifier key of its cosignatures'),
});

/** Maximum number of witnesses. Few programs accept a note with more signatures. */
export const WITNESSES_MAX = 12;

export type WitnessConfig = z.infer<typeof witness>;

/** Maximum number of former addresses. A signature that is invalid for the current address is checked against each of them. */
const FORMER_BASE_URLS_MAX = 4;

export const subgraphNames = ['book', 'board', 'receipt', 'session'] as const;
export type SubgraphName = (typeof subgraphNames)[number];

/** The factories of Coinbase Smart Wallet, v1 and v1.1, which are those of most wallets on Base that are not deployed yet. */
const coinbaseFactories = [
  '0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a',
  '0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842',
] as const;

const rateOf = (name: RateName, description: string) =>
  rate()
    .optional()
    .meta({ description, unset: usualRate(name) });

/** The environment variables, one per row. An unset or empty variable is undefined. */
export const variables = z.object({
  HOST: z.string().default('127.0.0.1').describe('Address to listen on'),
  PORT: decimal(1, 65_535).default(4000).describe('TCP port to listen on'),
  BASE_URL: httpUrl().transform(withoutSlash).optional().meta({
    description: 'Public URL of the service, as receipts, offers and documents name it',
    unset: 'http with `HOST` and `PORT`',
  }),
  FORMER_BASE_URLS: list(httpUrl().transform(withoutSlash))
    .refine(urls => urls.length <= FORMER_BASE_URLS_MAX, `more than ${FORMER_BASE_URLS_MAX} URLs`)
    .default([])
    .meta({
      description: `Earlier values of \`BASE_URL\`, at most ${FORMER_BASE_URLS_MAX}. Signatures of wallets and sessions that name one of them stay valid`,
      unset: 'none',
    }),
  DATA_DIR: z
    .string()
    .default('.data')
    .describe('Folder for saved log heads, generated secrets, and the embedded database and chains of development'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'not a postgresql:// URL' })
    .meta({ form: 'postgresql URL' })
    .optional()
    .describe('Postgres database'),
  DATABASE_CONNECTIONS_MAX: decimal(4, 1_000)
    .default(limits.database_connections_max_default)
    .describe('Postgres connections that one process uses to answer calls. It opens up to ten more for other work'),
  DATABASE_PLAIN: z.literal('intended').optional().meta({
    description: '`intended` lets production use a Postgres on another machine without TLS (`sslmode` below `require`)',
    unset: 'TLS is required',
  }),
  BASE_RPC_URL: httpUrl().optional().describe('JSON-RPC node of Base'),
  SOLANA_RPC_URL: httpUrl().optional().describe('JSON-RPC node of Solana'),
  NANO_RPC_URL: httpUrl().optional().meta({
    description: 'RPC node of Nano, where recorded payments to others in XNO are looked up',
    unset: 'no look-up',
  }),
  FACILITATOR_URL: httpUrl().transform(withoutSlash).optional().meta({
    description: 'x402 v2 facilitator that settles payments instead of keys of this service',
    unset: 'settlement in process with `FACILITATOR_KEYS` and `SOLANA_FEE_PAYER_KEY`',
  }),
  FACILITATOR_AUTH: facilitatorAuth().optional().meta({
    description: 'Credential for the facilitator: a bearer token, or a Coinbase Developer Platform key',
    unset: 'no credential',
  }),
  FACILITATOR_KEYS: list(privateKey())
    .optional()
    .describe('Private keys of the accounts that send settlements on Base and pay their gas'),
  SETTLE_FEE_MAX: atomicUsdc()
    .default(limits.settle_fee_atomic_default)
    .meta({
      description: 'Highest settlement cost of one payment: its share of the gas of the transaction that settles it',
      unset: `${limits.settle_fee_atomic_default}, twice the price of a call`,
    }),
  SETTLE_FEE_DAY_MAX: atomicUsdc()
    .default(limits.settle_fee_day_atomic_default)
    .describe('Highest cost of all settlements in one UTC day, over all processes'),
  ETH_USD: dollars().optional().meta({
    description: 'Price of one ether, used instead of a price feed',
    unset: 'Chainlink’s feed on Base; 1 on a development chain',
  }),
  WALLET_FACTORIES: list(baseAddress())
    .default([...coinbaseFactories])
    .meta({
      description:
        'Factory contracts that may deploy a paying contract wallet (ERC-6492) at the settler’s gas cost; empty for none',
      unset: 'the two factories of Coinbase Smart Wallet',
    }),
  SOLANA_FEE_PAYER_KEY: solanaKey().optional().describe('Key of the account that pays transaction fees on Solana'),
  PAY_TO_BASE: baseAddress().optional().describe('Treasury address on Base, which payments go to'),
  PAY_TO_SOLANA: solanaAddress().optional().describe('Treasury address on Solana; its USDC account must exist'),
  HUBS: jsonOf(z.array(hub).min(1).refine(distinctNames, 'two hubs have the same name'))
    .optional()
    .describe('OpenAI-compatible hubs; their members are listed below'),
  HUB_TIMEOUT_MS: decimal(1, limits.hubs_timeout_ms)
    .default(limits.hub_timeout_ms)
    .describe('Milliseconds that one hub may take to answer before the next one is tried'),
  ROUTER_URL: placeUrl()
    .transform(withoutSlash)
    .optional()
    .describe('Third-party router that serves `router/*` models with the caller’s own key'),
  ROUTER_MODELS: list(z.string())
    .default([])
    .describe('Models of a router that lists none without a key; only these are listed and accepted'),
  ISSUER_KEYS: list(seed())
    .optional()
    .describe(
      'Signing seeds, current first. A former seed may be removed once every process has the one that replaced it',
    ),
  SEAL_KEY: secret().optional().describe('Secret that encrypts stored answers, webhook secrets and router keys'),
  SUBGRAPH_SECRET: secret().optional().describe('Secret by which gateway and subgraphs authenticate each other'),
  ANCHOR_KEY: keySeed().optional().describe('Key of the account that writes the log’s head to Base; one key per log'),
  ANCHOR_SECONDS: decimal(1, 604_800).optional().meta({
    description:
      'Seconds between anchors of the log’s head, sent only if the log has grown. A generated `ANCHOR_KEY` anchors on a development chain only',
    unset: '30 in development, 3600 in production',
  }),
  ANCHOR_FEE_DAY_MAX: decimal(0, 999_999_999).optional().meta({
    description: 'Highest cost of anchors in one UTC day, in gwei; 0 sends none',
    unset: '500000000 in development, 1000000 (0.001 ETH) in production',
  }),
  API_KEYS: list(z.string().min(1)).optional().describe('API keys that are accepted instead of a payment'),
  DEMO_KEYS: list(z.string().min(1))
    .optional()
    .describe('API keys that are accepted instead of a payment and record nothing'),
  WAIVER_KEYS: list(z.string().min(1))
    .optional()
    .describe('API keys of pilot users, who record payments to others free of charge; accepted for nothing else'),
  METRICS_TOKEN: secret().optional().meta({
    description: 'Bearer token for `GET /metrics` (Prometheus)',
    unset: 'open in development, 404 in production',
  }),
  RATE_FREE: rateOf(
    'free',
    'Calls of free endpoints, queries and socket operations per client address, in each process',
  ),
  RATE_CREDENTIALS: rateOf('credentials', 'Invalid sessions, proofs and keys per client address'),
  RATE_UNPROVEN: rateOf('unproven', 'Payments per client address that prove no payer'),
  RATE_UNCHARGED: rateOf(
    'uncharged',
    'Uncharged requests that a hub or the router refused, and canceled tasks, per payer or API key; ten times as many per client address. Also refused router keys and grants',
  ),
  RATE_INGESTS: rateOf(
    'ingests',
    'Recorded payments to others that their chain does not show, per payer and per agent',
  ),
  BODIES_BYTES_MAX: decimal(1, 999_999_999)
    .optional()
    .meta({
      description: 'Bytes of unpaid request bodies that one client address may be sending at once',
      unset: usualRate('bodies_bytes_max'),
    }),
  TRUSTED_PROXIES: list(z.string())
    .refine(areProxies, 'not a list of addresses, networks (CIDR), `loopback`, `linklocal` or `uniquelocal`')
    .default([])
    .meta({
      description:
        'Addresses or networks of proxies whose `X-Forwarded-For` is trusted; also `loopback`, `linklocal`, `uniquelocal`',
      unset: 'none',
    }),
  CORS_ORIGINS: list(origin())
    .default(['*'])
    .describe('Origins whose pages may call the endpoints and `/graphql`; empty for none'),
  SECURITY_CONTACT: list(contactUri()).optional().meta({
    description: 'Contact for vulnerability reports in `/.well-known/security.txt` (RFC 9116)',
    unset: '`security@` the host of `BASE_URL` (RFC 2142)',
  }),
  DRAIN_MS: decimal(0, limits.stop_ms_max)
    .optional()
    .meta({
      description: 'Milliseconds that a stopping process still accepts connections while `/readyz` answers 503',
      unset: `0 in development, ${limits.drain_ms} in production`,
    }),
  LOG_ENTRIES: z
    .enum(['none', 'public'])
    .default('none')
    .describe(
      '`public` serves the contents of the log’s leaves, which name wallets, to everyone. Hashes are always public',
    ),
  WITNESSES: jsonOf(z.array(witness).max(WITNESSES_MAX).refine(distinctKeys, 'two witnesses have the same key'))
    .optional()
    .meta({
      description:
        'Witnesses that cosign the log’s checkpoints (C2SP tlog-witness): a list of `{"url": …, "key": …}`, submission URL and verifier key',
      unset: 'none',
    }),
  PROOF_WRITES: z
    .enum(['plain', 'bound'])
    .default('plain')
    .describe('With `bound`, a plain book proof only reads; a write requires a proof that is bound to its request'),
  STOP_MS: decimal(0, limits.stop_ms_max)
    .default(limits.stop_ms)
    .describe('Milliseconds that a stop may take. Calls that are still open then are finished by reconcile'),
  BOARD_OPS_SECRET: z.string().optional().describe('Shared secret of the board’s operators, who can hide content'),
  BOARD_INBOUND_SECRET: z.string().optional().describe('Shared secret of the board’s inbound endpoint'),
  SUBGRAPH_URLS: jsonOf(z.partialRecord(z.enum(subgraphNames), placeUrl().transform(withoutSlash)))
    .optional()
    .meta({
      description: 'Subgraphs that run as separate processes: an object of name to URL',
      unset: 'all in process',
    }),
  EVENTS_URL: z
    .url('not a URL')
    .meta({ form: 'URL' })
    .optional()
    .describe('Reserved for an event bus besides Postgres NOTIFY; a start with it is refused'),
  INTROSPECTION: z
    .enum(['on', 'off'])
    .optional()
    .meta({ description: 'Introspection of the GraphQL schema', unset: '`on` in development, `off` in production' }),
  NODE_ENV: z
    .enum(['development', 'production', 'test'], 'neither development, production nor test')
    .default('development')
    .describe(
      '`production` refuses stand-ins and weak secrets, see above; `test` allows webhooks over http and to this machine',
    ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Lowest level of log lines that are written'),
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

/** Variables whose empty value means "none" (no such keys, or without that network). If they are unset, a stand-in is used. */
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
