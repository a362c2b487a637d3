import { type DocumentNode, type ExecutionResult, type GraphQLError, print } from 'graphql';
import type {
  Caller,
  Challenge,
  Credentials,
  DoorError,
  DoorOperation,
  DoorResult,
  FollowOperation,
  PaymentJudgement,
  PaymentMethod,
  Port,
  SubscribeOutcome,
} from '../../rest-compat/port.ts';
import { faultEvent } from '../../rest-compat/problem.ts';
import { holderOf } from '../../schema/address-holder.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, errors } from '../../schema/errors.ts';
import type { ApiKey, Principal } from '../../schema/principal.ts';
import type { CallHeaders, Context, PresentedPayment } from '../../subgraphs/context.ts';
import type { Judge } from '../call/judge.ts';
import { refusalHeaders } from '../call/response-headers.ts';
import type { ShownCredentials } from '../graph/identify.ts';
import type { Graph } from '../graph/open-graph.ts';
import { EventBody, type EventWriting } from '../sockets/event-body.ts';
import type { NextMessage } from '../sockets/frame.ts';
import type { EventStreams } from '../sockets/serve-events.ts';
import type { Extensions } from '../x402/extensions.ts';
import { describeChallenge, openChallenges, type PayTo } from '../x402/offer.ts';

/** Names of the members of `Port` that this file adds. */
type AddedMember =
  | 'challenge'
  | 'describe'
  | 'judge'
  | 'prove'
  | 'besidePayment'
  | 'identify'
  | 'execute'
  | 'subscribe'
  | 'follow';

export interface PortParts extends Omit<Port, AddedMember> {
  readonly graph: Graph;
  readonly pay_to: PayTo;
  readonly extensions: Extensions;
  readonly judge: Judge;
  /** Identifies the caller. `pays` is true if the payment has proven its payer. @throws rate_limited */
  identify(credentials: ShownCredentials, pays: boolean): Promise<Principal>;
  createContext(principal: Principal, brought: CallHeaders): Context;
}

/**
 * Opens the port of the REST endpoints. They use the same planner, resolvers and charge as /graphql, without its HTTP pipeline.
 */
export function openPort(parts: PortParts): Omit<Port, 'follow'> {
  const { graph, pay_to, extensions, judge, identify: _, createContext: _create, ...given } = parts;
  return {
    ...given,
    challenge: openChallenges(pay_to, extensions),
    describe: describeChallenge,
    beginUpload: ({ payer, address }) => given.beginUpload({ payer, address: holderOf(address) }),
    judge: judge.judge,
    prove: (unproven, address) => judge.prove(unproven, holderOf(address)),
    besidePayment: judge.besidePayment,
    identify: (credentials, payment) => identify(parts, credentials, payment),
    execute: operation => execute(graph, operation),
    subscribe: operation => subscribe(graph, operation),
  };
}

async function identify(parts: PortParts, credentials: Credentials, payment: PaymentJudgement): Promise<Caller> {
  const principal = await parts.identify(credentials, payment.kind === 'proven');
  return {
    possession: principal.possession,
    board: principal.board,
    payment_method: payment.kind === 'none' ? payment_method(principal.api_key) : 'payment',
    unknown_key: principal.api_key.kind === 'unknown',
    payment,
    context: parts.createContext(principal, {
      payment: 'presented' in payment ? (payment.presented as PresentedPayment) : null,
      router_key: credentials.router_key,
      redelivery: credentials.redelivery,
      idempotency_key: credentials.idempotency_key,
      delegation: credentials.delegation,
      note: credentials.note,
      resource: credentials.resource,
    }),
  };
}

function payment_method({ kind }: ApiKey): PaymentMethod | null {
  return kind === 'absent' || kind === 'unknown' ? null : `${kind}_key`;
}

/** The caller's context with the validated body, so that a resolver in this process does not validate it again. */
function contextWith({ caller, valid_body, left }: DoorOperation): Context {
  return { ...(caller.context as Context), valid_body, ...(left && { left }) };
}

async function execute(graph: Graph, operation: Parameters<Port['execute']>[0]): Promise<DoorResult> {
  const { document, variables, nulls } = operation;
  const context = contextWith(operation);
  return refusable(await graph.execute({ document, variables, context, written: nulls }), context);
}

/** Result of the operation. Its headers include the state of the payment that came with the request. */
function refusable(result: ExecutionResult, context: Context): DoorResult {
  const { data, errors } = resultOf(result);
  return { data, errors, headers: { ...context.response.headers, ...refusalHeaders(context, errors[0]) } };
}

async function subscribe(graph: Graph, operation: DoorOperation): Promise<SubscribeOutcome> {
  const { document, variables } = operation;
  const context = contextWith(operation);
  const result = await graph.subscribe({ document, variables, context });
  const { headers } = context.response;
  return Symbol.asyncIterator in result
    ? { kind: 'events', headers: { ...headers }, events: resultsOf(result) }
    : { kind: 'refused', executed: refusable(result, context) };
}

async function* resultsOf(results: AsyncIterable<ExecutionResult>) {
  for await (const result of results) yield resultOf(result);
}

function resultOf({ data, errors = [] }: ExecutionResult): Pick<DoorResult, 'data' | 'errors'> {
  // A partial failure must not look like a success: a REST response is either whole or an error.
  return { data: errors.length > 0 ? null : ((data ?? null) as JsonObject | null), errors: errors.map(publicFault) };
}

/**
 * The error as an endpoint reports it. The offer inside a refusal is for /graphql, so it is removed. An endpoint makes another
 * offer, which names the endpoint, unless only the resolver knows the price.
 */
function publicFault({ message, extensions }: GraphQLError): DoorError {
  const { code, status: _, param, answer_headers, x402: body, offered_here, ...facts } = extensions;
  const known = code as ErrorCode;
  const challenge = { headers: answer_headers, body } as Pick<Challenge, 'headers' | 'body'>;
  return {
    code: known,
    status: errors[known][0],
    message,
    facts: facts as JsonObject,
    ...(typeof param === 'string' ? { param } : {}),
    ...(offered_here === true && { challenge }),
  };
}

/** Follows endless events for endpoints, under the rules of sockets: the same groups, limits, heartbeats and ends. */
export function openFollow(streams: Pick<EventStreams, 'follow'>): Port['follow'] {
  return async ({ document, variables, address, ...request }) => {
    const requested = { query: textOf(document), variables };
    const followed = await streams.follow(requested, { ...nothingShown, address }, writingOf(request));
    if (followed instanceof EventBody) return { kind: 'events', body: followed.readable };
    return { kind: 'refused', executed: { ...resultOf(followed), headers: {} } };
  };
}

/** Credentials for public events: none, so that all readers of the same events are one group. */
const nothingShown: Omit<ShownCredentials, 'address'> = {
  sessions: [],
  agent: null,
  proof: null,
  api_key: null,
  slice: null,
  ingest_key: null,
};

const texts = new WeakMap<DocumentNode, string>();

function textOf(document: DocumentNode): string {
  const text = texts.get(document) ?? print(document);
  texts.set(document, text);
  return text;
}

const written = new WeakMap<NextMessage, Map<FollowOperation['frames'], Buffer>>();

function writingOf({ frames, eventOf }: Pick<FollowOperation, 'frames' | 'eventOf'>): EventWriting {
  const one = (result: ExecutionResult): Buffer => {
    const { data, errors } = resultOf(result);
    if (data !== null) return Buffer.from(frames.event(eventOf(data)));
    const [error = { code: 'internal' as const }] = errors;
    return Buffer.from(frames.fault?.(faultEvent(error), 0) ?? '');
  };
  return {
    one,
    shared(message) {
      const known = written.get(message) ?? new Map<FollowOperation['frames'], Buffer>();
      written.set(message, known);
      const bytes = known.get(frames) ?? one(JSON.parse(message.result.toString()) as ExecutionResult);
      known.set(frames, bytes);
      return bytes;
    },
    complete: '',
  };
}
