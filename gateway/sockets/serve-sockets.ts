import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { CloseCode } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import type { Logger } from 'pino';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { agentOf, credentialsIn, sessionsIn } from '../../rest-compat/credentials.ts';
import { requireKnownHeaders } from '../../rest-compat/door-request.ts';
import { disconnectSignal } from '../../rest-compat/http/disconnect.ts';
import type { Port } from '../../rest-compat/port.ts';
import { holderOf } from '../../schema/address-holder.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { repeatedMember } from '../../schema/json-bounds.ts';
import { limits } from '../../schema/limits.ts';
import type { ShownProof } from '../../schema/proof.ts';
import type { Context } from '../../subgraphs/context.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { RefusedWhileHalted } from '../../subgraphs/receipt/log/halt-guard.ts';
import type { Trust } from '../config/forms.ts';
import { provenAtConnection, type ShownCredentials } from '../graph/identify.ts';
import type { Graph } from '../graph/open-graph.ts';
import { publicError } from '../graph/public-error.ts';
import { namesHosts } from '../operations/connections.ts';
import type { SocketTally } from '../operations/metrics.ts';
import type { Precedence } from '../operations/precedence.ts';
import { clientAddress } from '../rates/client-address.ts';
import { requireWithin } from '../rates/rates.ts';
import { closeSocket, type Line, SocketDelivery, socketLine, TRY_AGAIN_LATER } from './delivery.ts';
import { withUsePerWrite } from './keep-proof.ts';
import { admit, callerOfOperation, type OperationOutput, operationOf, subscribeOperation } from './operation.ts';
import type { SessionSockets, SocketCallers } from './session-sockets.ts';
import type { SharedSubscriptions } from './shared-subscriptions.ts';

interface SubscriptionOptions {
  readonly graph: Graph;
  readonly callers: SocketCallers;
  readonly sessions: SessionSockets;
  readonly shared: SharedSubscriptions;
  readonly logger: Logger;
  readonly path: string;
  readonly tally: SocketTally;
  /** Proxies that are trusted to state the client's address. Default: none. */
  readonly trust?: Trust | undefined;
  /** When each operation is executed. */
  readonly precedence: Pick<Precedence, 'turn'>;
  /** Limits operations per address. Without it they are not limited. */
  readonly rates?: Port['rates'] | undefined;
}

interface Subscriptions {
  /** Closes sockets with code 1001, and disconnects those that do not answer. */
  close(): Promise<void>;
}

const GOODBYE_MS = 2_000;

/** Serves graphql-transport-ws on `path` of a running HTTP server. */
export function serveSubscriptions(http: HttpServer, options: SubscriptionOptions): Subscriptions {
  const sockets = new WebSocketServer({
    noServer: true,
    WebSocket: StrictSocket,
    perMessageDeflate: false,
    maxPayload: limits.socket_message_bytes_max,
    maxFragments: limits.socket_message_fragments_max,
  });
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Node no longer handles errors of this socket, and an unhandled reset would end the process.
    socket.on('error', () => socket.destroy());
    const refused = upgradeFault(request, options.path);
    if (refused) return void socket.end(`HTTP/1.1 ${refused}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, ws => sockets.emit('connection', ws, request));
  };
  http.on('upgrade', upgrade);
  const serving = useServer<Record<string, unknown>, Caller>(
    { ...options.tally.countSockets(protocol(options)), isProd: true },
    sockets,
  );
  // graphql-ws would print every malformed frame to the console. `ws` has closed the socket by then.
  sockets.on('connection', socket => {
    socket.removeAllListeners('error');
    socket.on('error', error => options.logger.debug({ err: error }, 'a socket failed'));
    boundFrames(socket, () => performance.now(), options.tally);
  });
  void options.callers.halted.then(() => {
    for (const socket of sockets.clients) closeSocket(socket, 'halted');
  });
  return {
    async close() {
      http.off('upgrade', upgrade);
      const hungUp = new AbortController();
      const impatience = sleep(GOODBYE_MS, null, { signal: hungUp.signal }).then(
        () => {
          for (const socket of sockets.clients) socket.terminate();
        },
        () => {},
      );
      await serving.dispose();
      hungUp.abort();
      await impatience;
    },
  };
}

/** Status of the response to an invalid upgrade. Null if it is valid. */
function upgradeFault(request: IncomingMessage, path: string): string | null {
  if (namesHosts(request)) return '400 Bad Request';
  return request.url?.split('?')[0] === path ? null : '404 Not Found';
}

type Caller = { shown?: ShownCredentials; line?: Line; left?: AbortSignal };

type Admission = OperationOutput & { readonly context: Context; readonly leave: () => void };

type Protocol = Parameters<typeof useServer<Record<string, unknown>, Caller>>[0];

function protocol(options: SubscriptionOptions): Protocol {
  const { graph, callers, sessions, shared, logger, tally, trust, rates, precedence } = options;
  /** Admitted operations by the arguments that graphql-ws passes back. */
  const admissions = new WeakMap<object, Admission>();
  return {
    connectionInitWaitTimeout: limits.socket_init_ms_max,
    async onConnect({ connectionParams, extra }) {
      try {
        callers.requireNotHalted();
        requireKnownHeaders(extra.request.headers);
        extra.shown = { ...shownIn(connectionParams ?? {}), address: clientAddress(extra.request, trust) };
        // If this returns false, the socket is closed with 4403. A caller without a session gets the public fields.
        extra.line = socketLine(extra.socket);
        extra.left = disconnectSignal(extra.socket, !extra.line.open);
        return (await sessions.identify(extra.line, extra.shown)).possession.kind !== 'wrong';
      } catch (error) {
        closeUnknown(extra.socket, error, logger);
        return undefined;
      }
    },
    async onSubscribe({ subscriptions, extra }, id, payload) {
      let leave: (() => void) | null = null;
      try {
        requireTurn(rates, extra, Object.keys(subscriptions).length);
        leave = await precedence.turn(holderOf(extra.shown?.address ?? ''), extra.left);
        if (leave === null) throw new Refusal('unavailable');
        const { line, principal } = await callerOf(extra, sessions);
        const asking = callerOfOperation(graph, payload, withUsePerWrite(principal, payload));
        const context = { ...callers.createContext(asking), left: extra.left };
        const admitted = admit(graph, payload, context);
        const gate = sessions.gate(line, asking);
        const delivery = new SocketDelivery(extra.socket, extra.request.socket, id, gate, tally);
        admissions.set(admitted, { context, delivery, resting: gate.resting, leave });
        return admitted;
      } catch (error) {
        leave?.();
        return [publicError(error, logger)];
      }
    },
    async execute(args) {
      try {
        return await graph.execute(operationOf(args));
      } finally {
        admissions.get(args)?.leave();
      }
    },
    async subscribe(args) {
      const admission = admissions.get(args);
      if (!admission) throw new Error('an operation that was not admitted');
      const { context, leave, ...out } = admission;
      try {
        return await subscribeOperation(graph, shared, { ...operationOf(args), context }, out);
      } finally {
        leave();
      }
    },
    onError: (_context, _id, _payload, errors) => errors.map(error => publicError(error, logger).toJSON()),
  };
}

/** Checks the limits per socket, and per address and time. @throws rate_limited */
function requireTurn(rates: SubscriptionOptions['rates'], { shown }: Caller, open: number): void {
  if (open > limits.socket_subscriptions_max) throw new Refusal('rate_limited');
  if (rates) requireWithin(rates.take('free', shown?.address ?? ''));
}

/**
 * Closes a socket whose caller could not be identified. If only the database is unavailable, the code lets the client reconnect; clients
 * never do after 4400 and 4500.
 */
function closeUnknown(socket: WebSocket, error: unknown, logger: Logger): void {
  if (error instanceof RefusedWhileHalted) {
    closeSocket(socket, 'halted');
    return;
  }
  const asked_wrong = error instanceof Refusal && error.code === 'invalid_request';
  if (!asked_wrong)
    logger.error(
      { err: error },
      'the credentials of a WebSocket could not be checked because of the error in err; it was closed',
    );
  if (asked_wrong) socket.close(CloseCode.BadRequest, error.message);
  else if (error instanceof DatabaseAway) socket.close(TRY_AGAIN_LATER, 'Try again later');
  else closeSocket(socket, 'broken');
}

async function callerOf({ shown, line }: Caller, sessions: SessionSockets) {
  if (!shown || !line) throw new Error('acknowledged without credentials');
  return { line, principal: await sessions.caller(line, shown) };
}

/** Code for "Too many requests", in the range that graphql-transport-ws leaves to applications. */
const FLOODED = 4429;

/**
 * Limits the frames of a socket, at once and per second. Every frame costs work: messages are parsed and pings answered, even if the client
 * does not read the answers. A socket that sends more is closed with the reason.
 */
function boundFrames(socket: WebSocket, now_ms: () => number, tally: SocketTally): void {
  let left = limits.socket_frames_burst_max;
  let filled_ms = now_ms();
  const count = () => {
    const at_ms = now_ms();
    const refilled = left + ((at_ms - filled_ms) / 1_000) * limits.socket_frames_per_second_max;
    left = Math.min(limits.socket_frames_burst_max, refilled) - 1;
    filled_ms = at_ms;
    if (left < 0) hangUp(socket, tally);
  };
  for (const frame of ['message', 'ping', 'pong'] as const) socket.on(frame, count);
}

function hangUp(socket: WebSocket, tally: SocketTally): void {
  if (socket.readyState !== socket.OPEN) return;
  tally.dropped.flood++;
  socket.close(FLOODED, 'Too many messages');
  // Further frames are not read. A client that does not close is disconnected.
  socket.pause();
  setTimeout(() => socket.terminate(), limits.linger_ms_max).unref();
}

/**
 * A socket that refuses messages with a duplicate member, like bodies of HTTP requests: JSON.parse takes the last of two, while a signer or
 * a log may have used the first. It closes with the code that graphql-transport-ws uses for every invalid message, and passes on nothing
 * after a close.
 */
class StrictSocket extends WebSocket {
  // The check runs before the other listeners, because graphql-ws would already have run the operation.
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event !== 'message') return super.emit(event, ...args);
    if (this.readyState !== this.OPEN) return false;
    const repeated = repeatedIn(args[0] as RawData);
    if (repeated === null) return super.emit(event, ...args);
    this.close(CloseCode.BadRequest, reasonOf(repeated));
    return false;
  }
}

/** Name of a repeated member, in the text as graphql-ws reads it. Null if there is none. */
function repeatedIn(message: RawData): string | null {
  const text = String(message);
  try {
    return repeatedMember(Buffer.from(text), JSON.parse(text))?.param ?? null;
  } catch {
    // graphql-ws closes the socket for invalid JSON, with the same code.
    return null;
  }
}

/** Longest reason of a close: a control frame has at most 125 bytes, two of them for the code (RFC 6455 section 5.5). */
const REASON_BYTES_MAX = 123;
const DUPLICATE = ': named twice in one object';

/** Reason of a close. The name is shortened to the room that the sentence leaves. */
function reasonOf(name: string): string {
  let shortened = name;
  while (Buffer.byteLength(shortened + DUPLICATE) > REASON_BYTES_MAX) shortened = shortened.slice(0, -1);
  return shortened + DUPLICATE;
}

/**
 * Reads the credentials in connectionParams: `{session}`, `{sessions: [...]}`, `{api_key}` and `{agent_id}`, or the HTTP headers
 * `X-SVC-Session`, `X-API-Key` and so on in any case, at the top or under `headers`. A proof, `{agent_id, proof}` with a nonce, is not read
 * from the headers, because it covers all other members. @throws Refusal invalid_request
 */
function shownIn(params: Record<string, unknown>): Omit<ShownCredentials, 'address'> {
  const { session, sessions, api_key, agent_id, headers } = params;
  const named = { ...lowerCased(headers), ...lowerCased(params) };
  requireKnownHeaders(named);
  const inHeaders = credentialsIn(headersIn(named), {}, null, '');
  const own = [...shownAs(session), ...shownAs(sessions)];
  return {
    sessions: [...new Set(own.length > 0 ? own : shownAs(named['x-svc-session']))],
    agent: agent_id === undefined || agent_id === null ? inHeaders.agent : agentOf(String(agent_id)),
    proof: proofIn(params),
    api_key: textOf(api_key) ?? inHeaders.api_key,
    slice: inHeaders.slice,
    ingest_key: inHeaders.ingest_key,
    board_secrets: inHeaders.board_secrets,
  };
}

function lowerCased(named: unknown): Record<string, unknown> {
  const members = typeof named === 'object' && named !== null ? Object.entries(named) : [];
  return Object.fromEntries(members.map(([name, value]) => [name.toLowerCase(), value]));
}

function headersIn(named: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, String(value)]));
}

/** Sessions in one value, in a list, or in one header with several values. */
function shownAs(shown: unknown): readonly string[] {
  if (Array.isArray(shown)) return shown.flatMap(shownAs);
  const text = textOf(shown);
  if (text === null) return [];
  const sessions = sessionsIn(text);
  // An empty credential counts as a wrong credential.
  return sessions.length > 0 ? sessions : [text];
}

function proofIn(params: Record<string, unknown>): ShownProof | null {
  const value = textOf(params.proof);
  if (value === null) return null;
  const request = provenAtConnection(params as JsonObject);
  return { agent_id: agentOf(textOf(params.agent_id) ?? undefined), value, nonce: textOf(params.nonce), request };
}

/** A value as text. A value that is not text becomes text, and so counts as a wrong credential. */
function textOf(value: unknown): string | null {
  return value === undefined || value === null ? null : String(value);
}
