import { paidRequestHash } from '../../gateway/call/request.ts';
import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import type { Principal } from '../../schema/principal.ts';
import { ResponseHeaders } from '../../subgraphs/context.ts';
import type { AnyPaid, TwoLegs } from '../../subgraphs/sale.ts';
import { AGENT_ID, WALLET } from './examples.ts';
import { shown } from './odd-values.ts';

/*
 * A request's context that records the first call of a service by a resolver and returns nothing. That call identifies the outcome of a
 * request, without a database or a chain.
 */

/** Ends a resolver once it has made its first call to a service. */
export class ReachedSignal extends Error {}

const NOW_MS = Date.UTC(2026, 10, 30, 12);
const HASH = '0'.repeat(64);

const caller: Principal = {
  possession: { kind: 'proven', agent_id: AGENT_ID, session_hash: HASH, by: 'session' } as Principal['possession'],
  api_key: { kind: 'absent' },
  address: '192.0.2.1',
  board: { ops: 'held', inbound: 'held' },
  ingest_key: { key: 'a key' } as unknown as Principal['ingest_key'],
  slice: { token: 'a token' } as unknown as Principal['slice'],
};

/** Members of a context that are services. */
const services = [
  ...['live', 'vault', 'issuer', 'wallets', 'free_wallets', 'transfers', 'failed_looks', 'reports', 'completions'],
  ...['payout_accounts', 'hand_offs', 'log_entries', 'readBookEvents', 'readBoardEvents', 'readSessionBurns'],
  ...['jobPaidBy', 'refusalOfAct', 'findTask', 'cancelTask', 'router_look_ups'],
];

/** A context that puts the first call of a service into `reached`. */
export function recordingContext(reached: Json[], valid_body?: object): object {
  const reach = (what: JsonObject): never => {
    if (reached.length === 0) reached.push(what);
    throw new ReachedSignal();
  };
  const service = (name: string): unknown =>
    new Proxy(() => {}, {
      get: (_, member) => (typeof member === 'symbol' || member === 'then' ? undefined : service(`${name}.${member}`)),
      apply: (_, _this, given: unknown[]) => reach({ [name]: given.map(plain) }),
    });
  const sells = (paid: AnyPaid, args: JsonObject) => {
    const former = paid.former_args?.(args) ?? null;
    return reach({
      charge: paid.field,
      args: plain(args),
      request_hash: paidRequestHash(paid.field, args),
      ...(former && { former_request_hash: paidRequestHash(paid.field, former) }),
    });
  };
  const statement = async ({ values = [] }: { values?: unknown[] }) => reach({ database: values.map(plain) });
  const database = {
    query: statement,
    transaction: (work: (tx: object) => Promise<unknown>) =>
      work({
        query: statement,
        write: ({ values = [] }: { values?: unknown[] }) => reach({ database: values.map(plain) }),
      }),
  };
  return {
    ...Object.fromEntries(services.map(name => [name, service(name)])),
    database,
    charge: async (paid: AnyPaid, args: JsonObject) => sells(paid, args),
    chargeStream: async (paid: AnyPaid, args: JsonObject) => sells(paid, args),
    chargeLegs: async ({ first }: TwoLegs<JsonObject, JsonObject>, args: JsonObject) => sells(first, args),
    walletOfAgent: async () => WALLET,
    hostOfHub: () => null,
    isHubHost: () => false,
    newestSize: () => null,
    witnesses: [],
    treasuries: { base: WALLET },
    webhook_reach: 'public',
    clock: { now_ms: () => NOW_MS },
    random: { bytes: (count: number) => new Uint8Array(count).fill(7) },
    base_url: 'https://svc.test',
    base_urls: ['https://svc.test'],
    profile: 'development',
    principal: caller,
    ...(valid_body && { valid_body }),
    payment: null,
    router_key: null,
    redelivery: null,
    idempotency_key: null,
    delegation: null,
    note: null,
    response: new ResponseHeaders(),
  };
}

/** Arguments as JSON. Of a long text only the start and the hash are kept, of a value that is not data its type. */
export function plain(value: unknown): Json {
  if (typeof value === 'string') return value.length <= 300 ? value : `${shown(value)}, ${canonicalHash(value)}`;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex').slice(0, 128);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => [name, plain(member)]),
    );
  return typeof value === 'bigint' ? `${value}n` : typeof value;
}

/** The outcome of an operation: the call that its resolver made, or its refusal. */
export function resolverOutcome(reached: readonly Json[], result: object): Json {
  const [first] = reached;
  if (first !== undefined) return first;
  const { errors = [], data = null } = JSON.parse(JSON.stringify(result)) as { errors?: JsonObject[]; data?: Json };
  if (errors.length === 0) return { data };
  return {
    refused: errors.map(({ message, extensions }) => plain({ message, ...(isJsonObject(extensions) && extensions) })),
  };
}
