import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../schema/canonical-json.ts';
import { type ErrorCode, errors } from '../schema/errors.ts';
import type { ShownProof } from '../schema/proof.ts';
import { emptyBody, expectedBytes, readBody } from './body.ts';
import { agentOf, credentialsIn, paymentIn } from './credentials.ts';
import type { Door } from './door.ts';
import type { Body } from './media/reading.ts';
import type { Caller, Challenge, Judgement, Port, RateTurn, Upload } from './port.ts';
import { priceOf } from './price.ts';
import { type Answer, closed, problem } from './problem.ts';
import { tooMany } from './rated.ts';

/** One knock on a door: the request, its path parameters, and whether its method may bring a body. */
export interface Visit {
  readonly raw: IncomingMessage;
  readonly params: Readonly<Record<string, string>>;
  readonly address: string;
  readonly brings_body: boolean;
  /** Takes the file that the body may bring, from a caller who has been let that far. */
  uploadOf(caller: Caller): Upload;
  readonly upload: Upload;
}

type Passage =
  | { readonly kind: 'open'; readonly caller: Caller; readonly body: JsonObject }
  | { readonly kind: 'refused'; readonly answer: Answer };

/**
 * The order of a door's refusals. What the columns put before the body is said with the body unread; all that is
 * said here is said before the document runs, so a payment that came along stays usable.
 */
export async function pass(door: Door, visit: Visit, port: Port): Promise<Passage> {
  const resource = resourceOf(door, visit, port);
  const { payment, turn } = await judged(door, visit, port, resource);
  if (turn?.kind === 'beyond') return refused(tooMany(turn));
  const rejected = asksFirst(door, payment) ? turnedDown(door, visit, port, payment) : null;
  if (rejected) return refused(rejected);
  const identify = (body: JsonObject | null) =>
    port.identify(credentialsIn(visit.raw.headers, body ?? {}, provenAt(door, visit, body), visit.address), payment);
  let caller = await identify(visit.brings_body ? null : {});
  const first = door.challenge === 'first' ? toll(door, visit, port, caller) : null;
  if (first && !door.waived_by) return refused(first);

  const body: Body = visit.brings_body ? await bodyOf(door, visit, port, caller) : emptyBody;
  if (first && !waived(door, body)) return refused(first);
  if (body.kind === 'refused') {
    const shut = unpossessed(door, visit, caller);
    const limit = body === crowded ? port.rates.crowded : {};
    return refused(shut ? closed(shut) : problem({ code: body.code, message: body.detail }, limit));
  }

  if (visit.brings_body && door.possession !== 'none' && showsMore(visit, body.value))
    caller = await identify(body.value);
  const shut = unpossessed(door, visit, caller);
  if (shut) return refused(closed(shut));
  const late = door.challenge === 'first' ? null : toll(door, visit, port, caller);
  return late ? refused(late) : { kind: 'open', caller, body: body.value };
}

/**
 * What the payment is worth, before a byte of the body is read and before the database is asked who is calling. Where a
 * body may make it unneeded nobody is asked about it yet: the till does that.
 */
async function judged(door: Door, visit: Visit, port: Port, resource: string): Promise<Judged> {
  const price = door.challenge === 'after_state' ? null : priceOf(door, resource);
  const payment = await port.judge(paymentIn(visit.raw.headers), price, resource);
  if (payment.kind === 'unproven' && asksFirst(door, payment)) return asked(visit, port, payment);
  return { payment, turn: door.price && provesNothing(payment) ? port.rates.take('unproven', visit.address) : null };
}

interface Judged {
  readonly payment: Judgement;
  /** Of its address; null where it is not limited. */
  readonly turn: RateTurn | null;
}

/** A turn is spent before the code at the payer's address is asked; it is given back unless that says no. */
async function asked(visit: Visit, port: Port, unproven: Parameters<Port['prove']>[0]): Promise<Judged> {
  const turn = port.rates.take('unproven', visit.address);
  if (turn.kind === 'beyond') return { payment: unproven, turn };
  let forged = false;
  try {
    const payment = await port.prove(unproven, visit.address);
    forged = payment.kind === 'rejected';
    return { payment, turn };
  } finally {
    if (!forged) port.rates.giveBack('unproven', visit.address);
  }
}

/** Whoever has proven a payment is never limited by address: many agents share one. */
const provesNothing = ({ kind }: Judgement): boolean => kind === 'malformed' || kind === 'rejected';

/** The body, where its sender's address has room for it: he who has proven that he pays always has. */
async function bodyOf(door: Door, visit: Visit, port: Port, caller: Caller): Promise<Body> {
  const unpaid = caller.payment.kind !== 'proven';
  const release = unpaid ? port.rates.hold(visit.address, expectedBytes(visit.raw, door.body_bytes_max)) : () => {};
  if (release === null) return crowded;
  try {
    return await readBody(visit.raw, door, visit.uploadOf(caller));
  } finally {
    release();
  }
}

const crowded: Body = {
  kind: 'refused',
  code: 'rate_limited',
  detail: 'Too many bodies come from this address at once.',
};

/** Whether nothing that is still to come could make the payment unneeded, or go before what is to be said of it. */
function asksFirst(door: Door, payment: Judgement): boolean {
  return door.challenge === 'first' && (!door.waived_by || payment.kind === 'malformed');
}

/** A header that cannot be read, or a payment that is none; the payment stays usable for what it was made for. */
function turnedDown(door: Door, visit: Visit, port: Port, payment: Judgement): Answer | null {
  if (door.price === null) return null;
  if (payment.kind === 'malformed') return problem({ code: 'invalid_payment' });
  if (payment.kind !== 'rejected') return null;
  return offer(door, visit, port, { code: 'payment_rejected', detail: payment.reason });
}

/** The door's 402. `reason` says why a payment in hand did not do. */
export function offer(
  door: Door,
  visit: Visit,
  port: Port,
  reason: { code: ErrorCode; detail?: string } | null,
  own?: Challenge,
): Answer {
  const price = priceOf(door, resourceOf(door, visit, port));
  if (!own && !price) return problem({ code: reason?.code ?? 'payment_required', message: reason?.detail });
  const challenge = own ?? (price && port.challenge(price, reason));
  return {
    status: 402,
    headers: { ...challenge?.headers, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: challenge ? textOf(challenge) : '{}',
  };
}

const texts = new WeakMap<Challenge, string>();

/** The same challenge goes out to all who ask for the same. */
function textOf(challenge: Challenge): string {
  const text = texts.get(challenge) ?? JSON.stringify(challenge.body);
  texts.set(challenge, text);
  return text;
}

/** Else whoever mistyped his key would take it for the door's price alone. */
const unknownKey = { code: 'unknown_api_key', detail: errors.unknown_api_key[1] } as const;

/** What stands between a caller and a priced door: a payment that is none, or nothing paid. */
function toll(door: Door, visit: Visit, port: Port, caller: Caller): Answer | null {
  if (door.price === null) return null;
  const rejected = turnedDown(door, visit, port, caller.payment);
  if (rejected) return rejected;
  const paid = caller.means !== null && door.price.paid_by.includes(caller.means);
  if (paid || door.challenge === 'after_state') return null;
  // What a demo key cannot stand in for is written for, and with a demo key nothing is: paying would not help.
  if (caller.means === 'demo_key') return closed(403);
  return offer(door, visit, port, caller.unknown_key ? unknownKey : null);
}

function waived(door: Door, body: Body): boolean {
  return door.waived_by !== null && body.kind === 'json' && (body.value[door.waived_by] ?? null) !== null;
}

function namesAgent(door: Door): boolean {
  return door.path.includes('{agent_id}');
}

function namedAgent(door: Door, visit: Visit): number | null {
  return namesAgent(door) ? agentOf(visit.params.agent_id) : null;
}

/** A wrong session on a paid door is a 403 before any charge, also where the door asks for none. */
function unpossessed(door: Door, visit: Visit, { possession }: Caller): 401 | 403 | null {
  if (door.possession === 'none') return door.price && possession.kind === 'wrong' ? 403 : null;
  if (possession.kind === 'absent') return 401;
  if (possession.kind === 'wrong') return 403;
  if (door.possession === 'session' && possession.by !== 'session') return 403;
  return namesAgent(door) && possession.agent_id !== namedAgent(door, visit) ? 403 : null;
}

/** What a proof would be of. While the body has not been read (null) nothing can be bound to it. */
function provenAt(door: Door, visit: Visit, body: JsonObject | null): Pick<ShownProof, 'agent_id' | 'request'> | null {
  const agent_id = namedAgent(door, visit);
  if (agent_id === null) return null;
  // As the door is called, whichever way it was spelt: one write has one name.
  const path = filled(door.path, visit.params);
  return { agent_id, request: body && { method: visit.raw.method ?? '', path, body } };
}

/** With the body at hand: possession that is in it, or a proof that depends on it. */
function showsMore({ raw }: Visit, { session, proof }: JsonObject): boolean {
  return session !== undefined || proof !== undefined || raw.headers['x-svc-proof'] !== undefined;
}

function refused(answer: Answer): Passage {
  return { kind: 'refused', answer };
}

function resourceOf(door: Door, visit: Visit, port: Port): string {
  return port.base_url + filled(door.path, visit.params);
}

function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}
