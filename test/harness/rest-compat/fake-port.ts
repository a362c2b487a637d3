import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import fastify from 'fastify';
import { type DocumentNode, Kind } from 'graphql';
import { compressAnswers } from '../../../gateway/http/compression.ts';
import type { Door } from '../../../rest-compat/door.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { FileMessages } from '../../../rest-compat/faces/mcp/file-messages.ts';
import { serveMcp } from '../../../rest-compat/faces/mcp/serve-mcp.ts';
import { type Origins, openToOrigins } from '../../../rest-compat/http/cors.ts';
import { badRequestHandlers, doorServerOptions } from '../../../rest-compat/http/server-options.ts';
import { notOfferedAt } from '../../../rest-compat/inference/not-offered.ts';
import type {
  Caller,
  Credentials,
  DoorOperation,
  DoorResult,
  FreeUse,
  PaymentJudgement,
  Port,
  ShownPayment,
  SubscribeOutcome,
} from '../../../rest-compat/port.ts';
import { serveDoors } from '../../../rest-compat/serve.ts';
import type { Upload } from '../../../rest-compat/upload.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { agentId } from '../../../schema/ids.ts';
import { Uploads } from '../../../subgraphs/uploads.ts';

export interface Call {
  readonly operation: string;
  readonly variables: JsonObject;
}

/** Port of the REST layer without a service. It accepts one session and one key of each kind, and a test sets its answers. */
export class FakePort implements Port {
  readonly base_url = 'https://svc.test';
  readonly security = { contacts: ['mailto:security@svc.test'], expires_at: '2027-05-01T00:00:00Z' };
  readonly calls: Call[] = [];
  /** The body of each operation, as the endpoint's schema has parsed it. */
  readonly valid_bodies: object[] = [];
  /** Parts that are missing. If there are any, it is not ready. */
  lacks: string[] = [];
  readonly seen: Credentials[] = [];
  /** Storage of uploaded files. A test can replace it with one that has little space. */
  uploads = new Uploads();
  answers: DoorResult = { data: {}, errors: [], headers: {} };
  throws: Error | null = null;

  /** Kinds of free calls whose limit is reached. */
  beyond: FreeUse[] = [];
  /** Whether it has no memory left for another body. */
  crowded = false;
  held = 0;
  readonly taken: FreeUse[] = [];
  readonly rates: Port['rates'] = {
    take: use => {
      this.taken.push(use);
      return this.rates.look(use, '');
    },
    look: use =>
      this.beyond.includes(use)
        ? { kind: 'beyond', headers: { RateLimit: `"${use}";r=0;t=7` }, retry_after_seconds: 7 }
        : { kind: 'within', headers: { RateLimit: `"${use}";r=1;t=7` } },
    giveBack: use => void this.taken.splice(this.taken.indexOf(use), 1),
    body_limit_headers: { RateLimit: '"bodies";r=0' },
    hold: (_address, bytes) => {
      if (this.crowded) return null;
      this.held += bytes;
      return () => {
        this.held -= bytes;
      };
    },
  };

  /** Result of checking a payment that it can decode. */
  judgement: PaymentJudgement = { kind: 'proven', payer: '0xpayer', presented: null, verified: null };
  /** Result of calling the payer's contract code. A test can make it throw. */
  prove: Port['prove'] = async unproven => ({ ...unproven, kind: 'proven' });

  besidePayment: Port['besidePayment'] = async refusal => refusal;

  async judge(shown: ShownPayment | null): Promise<PaymentJudgement> {
    if (shown === null) return { kind: 'none' };
    return decode(shown.header) ? this.judgement : { kind: 'malformed', why: 'It is not base64.' };
  }

  async identify(shown: Credentials, payment: PaymentJudgement): Promise<Caller> {
    this.seen.push(shown);
    const keys = { live: 'live_key', demo: 'demo_key', waiver: 'waiver_key' } as const;
    const key = keys[shown.api_key as keyof typeof keys] ?? null;
    return {
      possession: possession(shown),
      payment_method: payment.kind === 'none' ? key : 'payment',
      unknown_key: shown.api_key !== null && key === null,
      payment,
      context: null,
    };
  }

  challenge(price: Parameters<Port['challenge']>[0], reason: Parameters<Port['challenge']>[1]) {
    const accepts = price.networks.map(network => ({ scheme: 'exact', network, resource: price.resource }));
    const error = reason?.detail ?? 'payment required';
    const v2 = { x402Version: 2, error, resource: { url: price.resource }, accepts };
    return {
      headers: { 'PAYMENT-REQUIRED': Buffer.from(JSON.stringify(v2)).toString('base64') },
      required: v2,
      body: { x402Version: 1, error, accepts },
    };
  }

  readonly simulated_networks: Port['simulated_networks'] = [];
  signCard: Port['signCard'] = () => ({ protected: 'e30', signature: 'AA' });
  verifierProgram: Port['verifierProgram'] = async () => 'globalThis.checked = true;';
  readonly unpaid_requests: Port['unpaid_requests'] = {
    seal: request => `offer_${Buffer.from(JSON.stringify(request)).toString('base64url')}`,
    open: id =>
      id.startsWith('offer_')
        ? { request: JSON.parse(Buffer.from(id.slice(6), 'base64url').toString()), lapsed: false }
        : null,
  };
  /** Sessions that have begun and that no test has removed. */
  readonly begun = new Set<string>();
  readonly tool_sessions: Port['tool_sessions'] = {
    begin: () => {
      const id = `session-${this.begun.size}`;
      this.begun.add(id);
      return id;
    },
    isValid: id => this.begun.has(id),
  };
  describe: Port['describe'] = challenge => challenge;

  /** The current version of the board. */
  board_version = '1';
  async boardVersion(): Promise<string> {
    return this.board_version;
  }

  /** Events of a stream before it ends. Null if the stream is refused as `answers` says. */
  events: Pick<DoorResult, 'data' | 'errors'>[] | null = null;

  async execute({ document, variables, valid_body }: DoorOperation): Promise<DoorResult> {
    if (this.throws) throw this.throws;
    this.valid_bodies.push(valid_body);
    this.#note(document, variables);
    return this.answers;
  }

  async subscribe({ document, variables }: DoorOperation): Promise<SubscribeOutcome> {
    this.#note(document, variables);
    const { events } = this;
    if (events === null) return { kind: 'refused', executed: this.answers };
    const { headers } = this.answers;
    return {
      kind: 'events',
      headers,
      events: (async function* () {
        yield* events;
      })(),
    };
  }

  async follow({ document, variables, frames, eventOf }: Parameters<Port['follow']>[0]) {
    this.#note(document, variables);
    const { events } = this;
    if (events === null) return { kind: 'refused' as const, executed: this.answers };
    const texts = events.flatMap(({ data }) => (data === null ? [] : [frames.event(eventOf(data))]));
    return { kind: 'events' as const, body: Readable.from(texts) };
  }

  #note(document: DocumentNode, variables: JsonObject): void {
    const [first] = document.definitions;
    const operation = first?.kind === Kind.OPERATION_DEFINITION ? (first.name?.value ?? '') : '';
    this.calls.push({ operation, variables });
  }

  beginUpload(): Upload {
    return this.uploads.begin('an-upload');
  }

  async health(): Promise<JsonObject> {
    return { status: 'ok' };
  }

  without(): readonly string[] {
    return [];
  }

  async away(): Promise<readonly string[]> {
    return this.lacks;
  }
}

function possession({ sessions: [session], proof }: Credentials): Caller['possession'] {
  if (session === undefined && proof === null) return { kind: 'absent' };
  const proven = session === 'good' || (proof?.value === 'sha256=good' && proof.agent_id === 7);
  if (!proven) return { kind: 'wrong' };
  const held = { kind: 'proven', agent_id: agentId(7), session_hash: '' } as const;
  return session === undefined ? { ...held, by: 'plain_proof', use: null } : { ...held, by: 'session' };
}

function decode(header: string): unknown {
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString());
  } catch {
    return null;
  }
}

export const payment = Buffer.from('{"x402Version":2}').toString('base64');

/** Time-outs of a request in milliseconds, for tests that cannot wait for the service's. */
interface Patience {
  readonly requestTimeout?: number;
  readonly http?: Readonly<Record<keyof typeof doorServerOptions.http, number>>;
}

export async function openRestFixture(
  doors: readonly Door[] = everyDoor,
  patience: Patience = {},
  origins: Origins = new Set(),
  files = new FileMessages(),
) {
  const port = new FakePort();
  const app = fastify({ ...doorServerOptions, ...badRequestHandlers(origins), ...patience });
  openToOrigins(app, origins);
  await compressAnswers(app);
  await serveMcp(app, { port, doors }, origins, files);
  await serveDoors(app, port, doors, notOfferedAt);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const listening = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    port,
    url,
    socket_port: listening.port,
    /**
     * Closes all connections, because a client that has not read an answer to its end would keep the server open until the keep-alive
     * time-out.
     */
    async close(): Promise<void> {
      const closed = app.close();
      app.server.closeAllConnections();
      await closed;
    },
    get: (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers }),
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

export type RestFixture = Awaited<ReturnType<typeof openRestFixture>>;

export function succeed(port: FakePort, data: JsonObject, headers: Record<string, string> = {}): void {
  port.answers = { data, errors: [], headers };
}

export function fail(port: FakePort, error: DoorResult['errors'][number], headers: Record<string, string> = {}): void {
  port.answers = { data: null, errors: [error], headers };
}
