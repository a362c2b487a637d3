import type { JsonObject } from '../schema/canonical-json.ts';
import { errors, Refusal } from '../schema/errors.ts';
import type { ShownProof } from '../schema/proof.ts';
import { agentOf, credentialsIn, paymentIn } from './credentials.ts';
import type { Door } from './door.ts';
import { type Body, type DoorRequest, emptyBody } from './door-request.ts';
import { offer, pathOf, priceOf, resourceOf } from './offer.ts';
import type { Caller, PaymentJudgement, Port, RateTurn } from './port.ts';
import { authenticateChallenge, namedAgent, possessionFault, tokenAt } from './possession.ts';
import { type Answer, emptyRefusal, faultBeside, problem } from './problem.ts';
import type { Upload, UploadSender } from './upload.ts';

/** Outcome of the checks: the caller and the body, or a refusal. */
type CheckOutcome =
  | { readonly kind: 'open'; readonly caller: Caller; readonly body: JsonObject }
  | { readonly kind: 'refused'; readonly answer: Answer };

/** Starts the upload of a form's file, after the checks before the body. */
export type BeginUpload = (sender: UploadSender) => Upload;

/**
 * The order of the checks. Those before step 4 are made without reading the body, and all of them before the document runs, so a refused
 * payment stays usable.
 *
 * 1. Rate limit: too many payments that prove nothing from one address (429).
 * 2. A payment header that cannot be read (400), or a payment that is forged or not what was offered (402).
 * 3. On most paid endpoints: no payment (402), before any byte of the body.
 * 4. The body: no space for it (429), too long (413), of another media type (415), not JSON (400).
 * 5. Possession if the endpoint requires it, from headers or body (401, 403). A slice token in its place is checked first; an ingest key
 *    only by its form, and a secret of the board by itself.
 * 6. On the other paid endpoints: no payment (402).
 *
 * After that the schemas of the endpoint validate the body.
 */
export async function runChecks(
  door: Door,
  request: DoorRequest,
  port: Port,
  beginUpload: BeginUpload = () => noFile,
): Promise<CheckOutcome> {
  const { payment, turn } = await judgePayment(door, request, port);
  if (turn?.kind === 'beyond') return refuse(tooManyRequests(turn));
  const rejected = asksFirst(door, payment) ? refusePayment(door, request, port, payment) : null;
  if (rejected) return refuse(rejected);
  const resource = resourceOf(door, request, port);
  const token = tokenAt(door, request);
  if (door.slice_token === 'whole' && token === null) return refuse(tokenRequired);
  const identify = (body: JsonObject | null) => {
    const proven = proofContext(door, request, body);
    const inbound = door.board_secret === 'inbound';
    const shown = credentialsIn(request.headers, body ?? {}, proven, request.address, token, inbound);
    return port.identify({ ...shown, resource }, payment);
  };
  let caller = await identify(request.body ? null : {});
  const first = door.challenge === 'first' ? requirePayment(door, request, port, caller) : null;
  if (first && !door.waived_by) return refuse(first);

  const body = await bodyOf(door, request, port, caller, beginUpload);
  if (first && !isWaived(door, body)) return refuse(first);
  if (body.kind === 'refused') {
    const shut = refusePossession(door, request, caller, port);
    return refuse(shut ?? (await refuseBody(door, request, port, caller, body)));
  }

  if (request.body && door.possession !== 'none' && showsMore(request, body.value)) caller = await identify(body.value);
  const shut = refusePossession(door, request, caller, port);
  if (shut) return refuse(shut);
  const late = door.challenge === 'first' ? null : requirePayment(door, request, port, caller);
  return late ? refuse(late) : { kind: 'open', caller, body: body.value };
}

/** Requests without a secret of the board count against the rate limit like those with a wrong one. */
function refusePossession(door: Door, request: DoorRequest, caller: Caller, port: Port): Answer | null {
  const shut = possessionFault(door, request, caller);
  if (shut === null) return null;
  const counted = door.board_secret !== 'none' && shut === 401;
  const turn = counted ? port.rates.take('credentials', request.address) : null;
  return turn?.kind === 'beyond' ? tooManyRequests(turn) : emptyRefusal(shut, authenticateChallenge(door));
}

/**
 * Opens a free endpoint if the address is within its rate limit. Every response states the limit in headers, except refusals of
 * possession, which must not differ from each other.
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

/** A 429 from a later check already names the policy that refused it. */
const withoutRate: ReadonlySet<number> = new Set([401, 403, 429]);

/** RFC 6585 §4. */
function tooManyRequests({ headers, retry_after_seconds }: Extract<RateTurn, { kind: 'beyond' }>): Answer {
  return problem({ code: 'rate_limited', facts: { retry_after_seconds } }, headers);
}

/**
 * Judges the payment, before the body is read and before a query to the database identifies the caller. If a member of the body may make
 * the call free the chain is not asked yet; the charge does that.
 */
async function judgePayment(door: Door, request: DoorRequest, port: Port): Promise<PaymentCheck> {
  const price = door.challenge === 'after_state' ? null : priceOf(door, resourceOf(door, request, port));
  const payment = await port.judge(paymentIn(request.headers), price);
  if (payment.kind === 'unproven' && asksFirst(door, payment)) return askPayer(request, port, payment);
  return { payment, turn: door.price && provesNothing(payment) ? port.rates.take('unproven', request.address) : null };
}

interface PaymentCheck {
  readonly payment: PaymentJudgement;
  /** The turn counted for the address. Null if it is not limited. */
  readonly turn: RateTurn | null;
}

/** A turn is counted before the code at the payer's address is called, and given back unless the payment is rejected. */
async function askPayer(
  request: DoorRequest,
  port: Port,
  unproven: Parameters<Port['prove']>[0],
): Promise<PaymentCheck> {
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

/** A proven payment is never limited by address, because many agents share one. */
const provesNothing = ({ kind }: PaymentJudgement): boolean => kind === 'malformed' || kind === 'rejected';

/** Reads the body within the limit of the sender's address. A proven payment is exempt from it. */
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
  if (release === null) return tooManyBodies;
  try {
    const payer = 'payer' in payment ? payment.payer : null;
    return await body.read(door, door.takes === 'multipart/form-data' ? beginUpload({ payer, address }) : noFile);
  } finally {
    release();
  }
}

/** The payment may have been charged by an earlier attempt with a readable body, so the refusal states that. */
async function refuseBody(
  door: Door,
  { headers: shown }: DoorRequest,
  port: Port,
  { payment }: Caller,
  body: Extract<Body, { kind: 'refused' }>,
): Promise<Answer> {
  const { code, detail, param } = body;
  const refusal = new Refusal(code, { ...(detail !== undefined && { detail }), ...(param !== undefined && { param }) });
  if (body === tooManyBodies) return problem(faultBeside(refusal), port.rates.body_limit_headers);
  if (door.price === null) return problem(faultBeside(refusal));
  const { headers, ...fault } = faultBeside(await port.besidePayment(refusal, payment));
  return problem(fault, headers, paymentIn(shown) !== null);
}

const noFile: Upload = { id: '', take: () => false, async deliver() {}, release() {} };

const tooManyBodies: Body = {
  kind: 'refused',
  code: 'rate_limited',
  detail: 'Too many request bodies are being sent from this address at once. Try again when one of them is complete.',
};

/** Whether the payment decides before anything else is known: nothing in the body could make the call free. */
function asksFirst(door: Door, payment: PaymentJudgement): boolean {
  return door.challenge === 'first' && (!door.waived_by || payment.kind === 'malformed');
}

/** Refusal of an unreadable or rejected payment. The payment stays usable for its own purpose. */
function refusePayment(door: Door, request: DoorRequest, port: Port, payment: PaymentJudgement): Answer | null {
  if (door.price === null) return null;
  if (payment.kind === 'malformed') return refuseUnreadable(door, request, port, payment.why);
  if (payment.kind !== 'rejected') return null;
  return offer(door, request, port, { code: 'payment_rejected', detail: payment.reason });
}

/** An unreadable payment is an invalid request or an unpaid call, depending on the transport. */
function refuseUnreadable(door: Door, request: DoorRequest, port: Port, why: string): Answer | null {
  if (!request.unreadable_is_unpaid) return problem({ code: 'invalid_payment', message: why });
  // There the resolver makes the offer, without seeing the payment.
  return door.challenge === 'after_state' ? null : offer(door, request, port, { code: 'invalid_payment', detail: why });
}

/** Otherwise a client with a mistyped key would get a plain 402, and pay. */
const unknownKey = { code: 'unknown_api_key', detail: errors.unknown_api_key[1] } as const;

/** Refusal of a rejected payment, and of a call without one, on a paid endpoint. */
function requirePayment(door: Door, request: DoorRequest, port: Port, caller: Caller): Answer | null {
  if (door.price === null) return null;
  const rejected = refusePayment(door, request, port, caller.payment);
  if (rejected) return rejected;
  const paid = caller.payment_method !== null && door.price.paid_by.includes(caller.payment_method);
  if (paid || door.challenge === 'after_state') return null;
  // A demo key never writes, and this endpoint writes, so paying would not help.
  if (caller.payment_method === 'demo_key') return emptyRefusal(403);
  return offer(door, request, port, caller.unknown_key ? unknownKey : null);
}

/** States the kind of the required token (RFC 6750 3). */
const tokenRequired = problem({ code: 'token_required' }, { 'www-authenticate': 'Bearer' });

function isWaived(door: Door, body: Body): boolean {
  return door.waived_by !== null && body.kind === 'json' && (body.value[door.waived_by] ?? null) !== null;
}

/** What a proof is checked against. Before the body is read (null) it cannot be bound to it. */
function proofContext(
  door: Door,
  request: DoorRequest,
  body: JsonObject | null,
): Pick<ShownProof, 'agent_id' | 'request'> | null {
  const agent_id = namedAgent(door, request) ?? agentIn(door, body);
  if (agent_id === null) return null;
  return { agent_id, request: body && { method: request.method, path: pathOf(door, request.params), body } };
}

/** If the path names no agent, the body does. */
function agentIn({ possession }: Door, body: JsonObject | null): number | null {
  const named = body?.agent_id;
  return possession !== 'none' && typeof named === 'number' ? agentOf(String(named)) : null;
}

/** Whether the body has the possession, or a proof depends on it, so that the caller has to be identified again. */
function showsMore({ headers }: DoorRequest, { session, proof }: JsonObject): boolean {
  return session !== undefined || proof !== undefined || headers['x-svc-proof'] !== undefined;
}

function refuse(answer: Answer): CheckOutcome {
  return { kind: 'refused', answer };
}
