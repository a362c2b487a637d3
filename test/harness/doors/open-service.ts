import type { JSONWebKeySet } from 'jose';
import pg from 'pg';
import { getAddress } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { beforeEach, expect } from 'vitest';
import type { z } from 'zod';
import type { ChatAnswer } from '../../../rest-compat/inference/answers.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { RegistrationNoun } from '../../../schema/session/registration.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import type { ForeignTransfers } from '../../../subgraphs/foreign-transfers.ts';
import {
  type Fetch,
  type OfferV1,
  type PaymentHeaders,
  payingFetch,
  paymentFor,
  registrationOf,
  type Wallet,
} from '../buyer.ts';
import { freshChain } from '../chain.ts';
import { freshDatabase } from '../database.ts';
import { startGateway } from '../gateway.ts';
import { startTestHub } from '../hub.ts';
import { takeOwnAddress } from '../own-address.ts';
import { atEnd, forTheWorker } from '../release.ts';
import { renewableHubs } from '../renewable-hubs.ts';
import { setAudience } from '../signing-audience.ts';
import { untilHolds } from '../until-holds.ts';
import { openWorkerService as openServiceHere, type WorkerGatewayOptions } from '../worker-gateway.ts';
import { breakAt } from './break-at.ts';
import { startGate } from './gate.ts';
import { expectDescribed, expectShortHeaders, type TableAnswer } from './table.ts';

export const CHAT = '/v1/chat/completions';
export const REGISTER = '/v1/agents/register';
export const PRICE = 2000n;

/** The receipt in an answer, with the members that tests read. */
export interface ReceiptBody extends JsonObject {
  readonly task_id: string;
  readonly verify_url: string;
  readonly payment_ref: string;
  readonly payload_hash: string;
  readonly issuer_signature: { readonly jws: string; readonly kid: string };
}
export type Chat = Omit<z.infer<typeof ChatAnswer>, 'svc'> & { readonly svc: ReceiptBody };
/** The part of a 402 for x402 v1 clients. */
export interface ChallengeBody {
  readonly x402Version: number;
  readonly error: string;
  readonly accepts: readonly OfferV1[];
}
export type RegistrationAnswer = z.infer<typeof RegistrationNoun>;

interface Knock {
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of the request. Text, bytes and forms are sent unchanged, a stream in chunks, anything else as JSON. */
  readonly body?: unknown;
  /** The fetch that sends the request. A paying one pays a 402. */
  readonly by?: Fetch;
}

export type Service = Awaited<ReturnType<typeof openOwn>>;

interface ServiceOptions {
  /** Main to run in place of the service's. */
  readonly entry?: string;
  /** Points at which its calls fail (see `breakAt`). */
  readonly breaks_at?: readonly string[];
  /** Errors in the service's log that a test causes on purpose. */
  readonly meant?: RegExp;
  /** Whether its hubs also make images and transcribe audio. */
  readonly media?: boolean;
  /** Source of payments to other services. */
  readonly transfers?: ForeignTransfers;
  /** Minimum work of a send on Nano. */
  readonly nano_work_min?: bigint;
  /** Clock by which payments and proofs are checked. */
  readonly clock?: Clock;
  /** Pauses of the audit of its books (`GatewayOptions.book_audit_rests`). */
  readonly book_audit_rests?: number;
  /** Whether the test counts by the hour (see `freshDatabase`). */
  readonly mid_hour?: boolean;
  /** A database to use in place of a copy of the template. */
  readonly database_url?: string;
  /** Features beyond the specification, with the graph that is composed with them. */
  readonly features?: Pick<WorkerGatewayOptions, 'features' | 'supergraph'>;
}

let shared: Promise<Service> | undefined;

/**
 * The service that all files of a worker share, with one chain, one database, the same hubs, a live key and a demo key. A file uses it with
 * agents and payments that it makes itself. A file that alters records, halts the log, revokes keys, moves clocks, sets limits, or counts
 * all records opens a service by `openService` instead.
 */
export async function sharedService({ meant }: Pick<ServiceOptions, 'meant'> = {}): Promise<Service> {
  const service = await readyService();
  setAudience(service.url);
  takeOwnAddress();
  service.reset();
  atEnd(await service.chain.followTime());
  atEnd(async () => {
    try {
      // Waits, because a file that kept the worker busy has also delayed the periodic work of the service.
      await untilHolds(async () => expect((await service.get('/readyz')).body).toMatchObject({ status: 'ok' }));
      await untilHolds(async () => expect(await service.noncesAhead()).toEqual([]));
    } catch (fault) {
      // The next file then gets a new service, so that it does not fail because of this file.
      shared = undefined;
      throw new Error('the service that all files share was left so that it is not ready', { cause: fault });
    }
    requireQuiet(service.gateway.logs.filter(line => !meant?.test(line)));
  });
  return service;
}

/** The worker's service. It is replaced if an earlier file left it unready, for example by fake timers. */
async function readyService(): Promise<Service> {
  const known = await shared;
  if (known && (await known.get('/readyz').catch(() => null))?.status === 200) return known;
  known?.gateway.stop().catch(() => {});
  // Long pauses, because this service holds the books of dozens of files and would audit them all the time.
  shared = forTheWorker(() => openOwn({ DEMO_KEYS: 'a-demo-key' }, { book_audit_rests: 199 }));
  return shared;
}

/**
 * The whole service on a chain, a database and hubs that no other service uses. With another main it runs as a process. Each file calls it
 * once.
 */
export async function openService(
  environment: Readonly<Record<string, string>> = {},
  options: ServiceOptions = {},
): Promise<Service> {
  const service = await openOwn(environment, options);
  setAudience(environment.BASE_URL ?? service.url);
  atEnd(() => requireQuiet(service.gateway.logs.filter(line => !options.meant?.test(line))));
  return service;
}

async function openOwn(
  environment: Readonly<Record<string, string>> = {},
  {
    entry,
    breaks_at,
    media = false,
    transfers,
    nano_work_min,
    clock,
    book_audit_rests,
    mid_hour = false,
    database_url,
    features,
  }: ServiceOptions = {},
) {
  const [chain, database, alpha, beta] = await Promise.all([
    freshChain(),
    database_url === undefined ? freshDatabase({ mid_hour }) : { url: database_url },
    startTestHub({ name: 'alpha', models: ['alpha-1', 'alpha-2'], ...able, ...(media ? mediaOf('alpha') : {}) }),
    startTestHub({ name: 'beta', models: ['beta-1'], ...(media ? mediaOf('beta') : {}) }),
  ]);
  const hubs = renewableHubs();
  const gates = { base: await startGate(chain.rpc_url), alpha: await startGate(alpha.base_url) };
  const pay_to = getAddress(privateKeyToAddress(generatePrivateKey()));
  const variables = {
    DATABASE_URL: database.url,
    BASE_RPC_URL: gates.base.url,
    FACILITATOR_KEYS: chain.facilitator_keys.join(','),
    PAY_TO_BASE: pay_to,
    HUBS: JSON.stringify([{ ...alpha.config, base_url: gates.alpha.url }, beta.config]),
    API_KEYS: 'a-live-key',
    ROUTER_URL: '',
    LOG_LEVEL: 'warn',
    ...environment,
  };
  const gateway = await (entry === undefined
    ? openServiceHere({
        environment: variables,
        options: {
          openHubs: hubs.open,
          ...(breaks_at && { faults: breakAt(breaks_at) }),
          ...(transfers && { transfers }),
          ...(nano_work_min !== undefined && { nano_work_min }),
          ...(clock && { clock }),
          ...(book_audit_rests !== undefined && { book_audit_rests }),
          ...features,
        },
      })
    : startGateway({ entry, environment: variables }));
  const ledger = new pg.Pool({ connectionString: database.url, max: 2 });
  atEnd(() => ledger.end());

  async function knock<T = JsonObject>(method: string, path: string, { headers, body, by = fetch }: Knock = {}) {
    const sent = body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) };
    // No content type for a form: fetch sets it with the form's boundary.
    const typed = body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' };
    const duplex = body instanceof ReadableStream ? ({ duplex: 'half' } as const) : {};
    const answer = await by(gateway.url + path, { method, headers: { ...typed, ...headers }, ...sent, ...duplex });
    const text = await answer.text();
    const heard: TableAnswer<T> = {
      status: answer.status,
      headers: answer.headers,
      text,
      body: (text === '' ? null : isBare(answer) ? text : JSON.parse(text)) as T,
    };
    expectShortHeaders(answer);
    const [pathname = path] = path.split('?');
    if (pathname !== '/graphql') expectDescribed(method, pathname, heard);
    return heard;
  }

  return {
    chain,
    /** Restores the state after opening: hubs answer, gates are open, and the lists of earlier requests and log lines are empty. */
    reset(): void {
      for (const hub of [alpha, beta]) hub.forget();
      for (const gate of Object.values(gates)) gate.open();
      hubs.renew();
      gateway.logs.length = 0;
    },
    hubs: [alpha, beta] as const,
    /** Gates in front of the chain's RPC and of the first hub. */
    gates,
    gateway,
    url: gateway.url,
    database_url: database.url,
    pay_to,
    knock,
    get: <T = JsonObject>(path: string, headers: Knock['headers'] = {}) => knock<T>('GET', path, { headers }),
    post: <T = JsonObject>(path: string, body: unknown, headers: Knock['headers'] = {}) =>
      knock<T>('POST', path, { body, headers }),
    /** A payment for an endpoint, made by the official client and not sent yet. */
    payment: (account: Wallet, path: string, headers: Knock['headers'] = {}): Promise<PaymentHeaders> =>
      paymentFor(account, gateway.url + path, headers),
    /** The offer in an endpoint's 402 to v1 clients. */
    async offer(path: string): Promise<OfferV1> {
      const { body } = await knock<ChallengeBody>('POST', path);
      const [offer] = body.accepts;
      if (!offer) throw new Error(`nothing is offered at ${path}`);
      return offer;
    },
    /** The keys that verify the service's signatures. */
    jwks: async () => (await knock<JSONWebKeySet & JsonObject>('GET', '/.well-known/jwks.json')).body,
    /** A chat, paid by the official v2 client. */
    buy: (account: Wallet, body: JsonObject = ask(), headers: Knock['headers'] = {}) =>
      knock<Chat>('POST', CHAT, { body, headers, by: payingFetch(account) }),
    /** An agent: a new wallet with money, registered and thus with a book. */
    async newAgent() {
      const account = await chain.newWallet();
      const { body } = await knock<RegistrationAnswer>('POST', REGISTER, {
        body: await registrationOf(account),
        by: payingFetch(account),
      });
      return { account, ...body };
    },
    /** All claims of that wallet, in any state. */
    claimsOf: async ({ address }: Pick<Wallet, 'address'>) =>
      (
        await ledger.query<{ state: string; reason: string | null }>(
          'select state, reason from payment_claim where lower(payer) = lower($1)',
          [address],
        )
      ).rows,
    /** Transfers from that wallet to the treasury, oldest first. */
    async transfersFrom({ address }: Pick<Wallet, 'address'>) {
      const transfers = await chain.transfers(pay_to);
      return transfers.filter(({ from }) => from === address.toLowerCase());
    },
    /** Keys whose newest transaction is not mined yet, so that their next one would have to wait for it. */
    async noncesAhead() {
      const { rows: keys } = await ledger.query<{ address: string; next_nonce: number }>('select * from settler_key');
      const counts = keys.map(({ address }) => chain.call<string>('eth_getTransactionCount', address, 'latest'));
      const mined = await Promise.all(counts);
      return keys.filter(({ next_nonce }, index) => Number(next_nonce) > Number(mined[index]));
    },
    /**
     * Runs a statement on the service's database, for facts that no endpoint shows. A named statement is planned once for each connection.
     */
    query: async <T extends pg.QueryResultRow>(text: string, values: unknown[] = [], name?: string) =>
      (await ledger.query<T>({ text, values, ...(name !== undefined && { name }) })).rows,
  };
}

/** Abilities of one of the models in addition to text. */
const able = { vision_models: ['alpha-2'], reasoning_models: ['alpha-2'] };

function mediaOf(hub: string) {
  return {
    image_models: [`${hub}-image`],
    audio_models: [`${hub}-audio`],
    embedding_models: [`${hub}-embedding`],
  };
}

/** Fails if the log contains errors, because an answer may be right although a later step failed. */
function requireQuiet(logs: readonly string[]): void {
  const broken = logs.filter(line => /"level":[56]0/.test(line) && !EXPECTED_ERRORS.test(line));
  if (broken.length > 0) throw new Error(`the service logged errors:\n${broken.join('\n')}`);
}

/**
 * Errors that tests cause and that are no fault of the service: a gate that cuts a connection, and time-outs when all tests together
 * overload Postgres and the chains. Real errors with these texts are not noticed.
 */
const EXPECTED_ERRORS =
  /other side closed|ECONNRESET|ECONNREFUSED|write EPIPE|fetch failed|timeout exceeded when trying to connect|terminated due to connection timeout|reached: The operation was aborted due to timeout|forcefulShutdown was initiated/;

function isBare({ headers }: Response): boolean {
  return /^(text\/|application\/(octet-stream|atom\+xml))/.test(headers.get('content-type') ?? '');
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> | ReadableStream | FormData {
  return [Uint8Array, ReadableStream, FormData].some(kind => body instanceof kind) || typeof body === 'string';
}

/** Before each test, makes hubs answer and opens gates again. */
export function resetHubsBeforeEach(service: () => Service): void {
  beforeEach(() => {
    const { hubs, gates } = service();
    for (const hub of hubs) hub.behave({ kind: 'answer' });
    for (const gate of Object.values(gates)) gate.open();
  });
}

/** The smallest chat request. Requests with different contents are different requests. */
export function ask(content = 'What is a spend receipt?', members: JsonObject = {}): JsonObject {
  return { messages: [{ role: 'user', content }], ...members };
}
