import type { JsonObject } from '../schema/canonical-json.ts';
import { errors, Refusal } from '../schema/errors.ts';
import type { ShownProof } from '../schema/proof.ts';
import { agentOf, credentialsIn, paymentIn } from './credentials.ts';
import type { Door } from './door.ts';
import { type Body, type DoorRequest, emptyBody } from './door-request.ts';
import { offer, pathOf, priceOf, resourceOf } from './offer.ts';
import type { Caller, PaymentJudgement, Port, RateTurn } from './port.ts';
import { namedAgent, openedBy, tokenAt, unpossessed } from './possession.ts';
import { type Answer, closed, faultBeside, problem } from './problem.ts';
import type { Upload, UploadSender } from './upload.ts';

/** What a call of a door comes by: the caller and the body, or the answer that it is refused with. */
type Passage =
  | { readonly kind: 'open'; readonly caller: Caller; readonly body: JsonObject }
  | { readonly kind: 'refused'; readonly answer: Answer };

/** Where the file of a form goes, once its sender has been let that far. */
export type BeginUpload = (sender: UploadSender) => Upload;

/**
 * The order in which a door refuses, told from top to bottom. What the columns put before the body is said with the body
 * unread; all that is said here is said before the document runs, so a payment that came along stays usable.
 *
 * 1. Turns: too many payments that prove nothing from one address (429).
 * 2. A payment header that cannot be read (400), or a payment that is forged or not what was offered (402).
 * 3. On most paid doors: nothing paid (402), before a byte of the body, valid or not.
 * 4. The body: no room for it (429), too long (413), of another media type (415), not JSON (400).
 * 5. Possession, where the column asks for it, by headers or by the body (401, 403); a slice token in its place comes first, and an
 *    ingest key, where the column asks for one, by its spelling, and a secret of the board by itself.
 * 6. On the other paid doors: nothing paid (402).
 *
 * What is in the body is judged after that, by the door's schemas.
 */
export async function pass(
  door: Door,
  request: DoorRequest,
  port: Port,
  beginUpload: BeginUpload = () => noFile,
): Promise<Passage> {
  const { payment, turn } = await judgePayment(door, request, port);
  if (turn?.kind === 'beyond') return refused(tooManyRequests(turn));
  const rejected = asksFirst(door, payment) ? refusePayment(door, request, port, payment) : null;
  if (rejected) return refused(rejected);
  const resource = resourceOf(door, request, port);
  const token = tokenAt(door, request);
  if (door.slice_token === 'whole' && token === null) return refused(tokenRequired);
  const identify = (body: JsonObject | null) => {
    const proven = provenAt(door, request, body);
    const inbound = door.board_secret === 'inbound';
    const shown = credentialsIn(request.headers, body ?? {}, proven, request.address, token, inbound);
    return port.identify({ ...shown, resource }, payment);
  };
  let caller = await identify(request.body ? null : {});
  const first = door.challenge === 'first' ? requirePayment(door, request, port, caller) : null;
  if (first && !door.waived_by) return refused(first);

  const body = await bodyOf(door, request, port, caller, beginUpload);
  if (first && !waived(door, body)) return refused(first);
  if (body.kind === 'refused') {
    const shut = shutTo(door, request, caller, port);
    return refused(shut ?? (await withoutBody(door, request, port, caller, body)));
  }

  if (request.body && door.possession !== 'none' && showsMore(request, body.value)) caller = await identify(body.value);
  const shut = shutTo(door, request, caller, port);
  if (shut) return refused(shut);
  const late = door.challenge === 'first' ? null : requirePayment(door, request, port, caller);
  return late ? refused(late) : { kind: 'open', caller, body: body.value };
}

/** To whoever shows no secret of the board it is shut as often as to those who show a wrong one: both are counted by address. */
function shutTo(door: Door, request: DoorRequest, caller: Caller, port: Port): Answer | null {
  const shut = unpossessed(door, request, caller);
  if (shut === null) return null;
  const counted = door.board_secret !== 'none' && shut === 401;
  const turn = counted ? port.rates.take('credentials', request.address) : null;
  return turn?.kind === 'beyond' ? tooManyRequests(turn) : closed(shut, openedBy(door));
}

/**
 * A free door, as often as its caller's address may: each answer says how often that still is, but those to whom it stays
 * shut, which are alike to the last byte.
 */
export async function withinRate<A extends Pick<Answer, 'headers' | 'status'>>(
  { address }: DoorRequest,
  port: Port,
  open: () => Promise<A>,
): Promise<A | Answer> {
  const turn = port.rates.take('free', address);
  if (turn.kind === 'beyond') return tooManyRequests(turn);
  const answer = await open();
  return withoutRate.has(answer.status) ? answer : { ...answer, headers: { ...turn.headers, ...answer.headers } };
}

/** A 429 from further in names the policy that refused it, which is not this one. */
const withoutRate: ReadonlySet<number> = new Set([401, 403, 429]);

/** RFC 6585 §4. */
function tooManyRequests({ headers, retry_after_seconds }: Extract<RateTurn, { kind: 'beyond' }>): Answer {
  return problem({ code: 'rate_limited', facts: { retry_after_seconds } }, headers);
}

/**
 * What the payment is worth, before a byte of the body is read and before the database is asked who is calling. Where a
 * body may make it unneeded nobody is asked about it yet: the charge does that.
 */
async function judgePayment(door: Door, request: DoorRequest, port: Port): Promise<Judged> {
  const price = door.challenge === 'after_state' ? null : priceOf(door, resourceOf(door, request, port));
  const payment = await port.judge(paymentIn(request.headers), price);
  if (payment.kind === 'unproven' && asksFirst(door, payment)) return askPayer(request, port, payment);
  return { payment, turn: door.price && provesNothing(payment) ? port.rates.take('unproven', request.address) : null };
}

interface Judged {
  readonly payment: PaymentJudgement;
  /** Of its address; null where it is not limited. */
  readonly turn: RateTurn | null;
}

/** A turn is spent before the code at the payer's address is asked; it is given back unless that says no. */
async function askPayer(request: DoorRequest, port: Port, unproven: Parameters<Port['prove']>[0]): Promise<Judged> {
  const turn = port.rates.take('unproven', request.address);
  if (turn.kind === 'beyond') return { payment: unproven, turn };
  let forged = false;
  try {
    const payment = await port.prove(unproven, request.address);
    forged = payment.kind === 'rejected';
    return { payment, turn };
  } finally {
    if (!forged) port.rates.giveBack('unproven', request.address);
  }
}

/** Whoever has proven a payment is never limited by address: many agents share one. */
const provesNothing = ({ kind }: PaymentJudgement): boolean => kind === 'malformed' || kind === 'rejected';

/** The body, where its sender's address has room for it; a proven payment always has room. */
async function bodyOf(
  door: Door,
  { address, body }: DoorRequest,
  port: Port,
  { payment }: Caller,
  beginUpload: BeginUpload,
): Promise<Body> {
  if (body === null) return emptyBody;
  const unpaid = payment.kind !== 'proven';
  const release = unpaid ? port.rates.hold(address, body.expectedBytes(door.body_bytes_max)) : () => {};
  if (release === null) return crowded;
  try {
    const payer = 'payer' in payment ? payment.payer : null;
    return await body.read(door, door.takes === 'multipart/form-data' ? beginUpload({ payer, address }) : noFile);
  } finally {
    release();
  }
}

/** Whoever shows a payment with a body that cannot be read may have shown it with one that could. */
async function withoutBody(
  door: Door,
  { headers: shown }: DoorRequest,
  port: Port,
  { payment }: Caller,
  body: Extract<Body, { kind: 'refused' }>,
): Promise<Answer> {
  const { code, detail, param } = body;
  const refusal = new Refusal(code, { ...(detail !== undefined && { detail }), ...(param !== undefined && { param }) });
  if (body === crowded) return problem(faultBeside(refusal), port.rates.crowded);
  if (door.price === null) return problem(faultBeside(refusal));
  const { headers, ...fault } = faultBeside(await port.besidePayment(refusal, payment));
  return problem(fault, headers, paymentIn(shown) !== null);
}

const noFile: Upload = { id: '', take: () => false, async deliver() {}, release() {} };

const crowded: Body = {
  kind: 'refused',
  code: 'rate_limited',
  detail: 'Too many bodies come from this address at once.',
};

/** Whether nothing that is still to come could make the payment unneeded, or go before what is to be said of it. */
function asksFirst(door: Door, payment: PaymentJudgement): boolean {
  return door.challenge === 'first' && (!door.waived_by || payment.kind === 'malformed');
}

/** A header that cannot be read, or a payment that is none; the payment stays usable for what it was made for. */
function refusePayment(door: Door, request: DoorRequest, port: Port, payment: PaymentJudgement): Answer | null {
  if (door.price === null) return null;
  if (payment.kind === 'malformed') return unreadable(door, request, port, payment.why);
  if (payment.kind !== 'rejected') return null;
  return offer(door, request, port, { code: 'payment_rejected', detail: payment.reason });
}

/** What cannot be read is a fault of the request, or one more call that has not been paid: which of them is its transport's to say. */
function unreadable(door: Door, request: DoorRequest, port: Port, why: string): Answer | null {
  if (!request.unreadable_is_unpaid) return problem({ code: 'invalid_payment', message: why });
  // There the offer is the resolver's, which hears of no payment.
  return door.challenge === 'after_state' ? null : offer(door, request, port, { code: 'invalid_payment', detail: why });
}

/** Without it, whoever mistyped a key would read a plain 402 and pay. */
const unknownKey = { code: 'unknown_api_key', detail: errors.unknown_api_key[1] } as const;

/** A priced door's refusal of a payment that is none, and of nothing paid. */
function requirePayment(door: Door, request: DoorRequest, port: Port, caller: Caller): Answer | null {
  if (door.price === null) return null;
  const rejected = refusePayment(door, request, port, caller.payment);
  if (rejected) return rejected;
  const paid = caller.means !== null && door.price.paid_by.includes(caller.means);
  if (paid || door.challenge === 'after_state') return null;
  // What a demo key cannot stand in for is written for, and with a demo key nothing is: paying would not help.
  if (caller.means === 'demo_key') return closed(403);
  return offer(door, request, port, caller.unknown_key ? unknownKey : null);
}

/** RFC 6750 3: of what kind the token is that is asked for. */
const tokenRequired = problem({ code: 'token_required' }, { 'www-authenticate': 'Bearer' });

function waived(door: Door, body: Body): boolean {
  return door.waived_by !== null && body.kind === 'json' && (body.value[door.waived_by] ?? null) !== null;
}

/** What a proof would be of. While the body has not been read (null) nothing can be bound to it. */
function provenAt(
  door: Door,
  request: DoorRequest,
  body: JsonObject | null,
): Pick<ShownProof, 'agent_id' | 'request'> | null {
  const agent_id = namedAgent(door, request) ?? agentIn(door, body);
  if (agent_id === null) return null;
  return { agent_id, request: body && { method: request.method, path: pathOf(door, request.params), body } };
}

/** Where the path names no agent, the body says of which a proof is. */
function agentIn({ possession }: Door, body: JsonObject | null): number | null {
  const named = body?.agent_id;
  return possession !== 'none' && typeof named === 'number' ? agentOf(String(named)) : null;
}

/** With the body at hand: possession that is in it, or a proof that depends on it. */
function showsMore({ headers }: DoorRequest, { session, proof }: JsonObject): boolean {
  return session !== undefined || proof !== undefined || headers['x-svc-proof'] !== undefined;
}

function refused(answer: Answer): Passage {
  return { kind: 'refused', answer };
}
