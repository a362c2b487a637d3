import { z } from 'zod';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, errors } from '../../schema/errors.ts';
import { PaymentRequired } from '../answer-shapes.ts';
import { acceptsIdempotencyKey, type Columns, type Door, type DoorMethod, NO_STORE } from '../door.ts';
import { faultForms } from '../fault-form.ts';
import { closingCodes } from '../problem.ts';
import { answerHeaders } from './openapi-headers.ts';
import { type Components, pascal } from './openapi-parts.ts';
import type { ComponentSchemas } from './openapi-schemas.ts';
import { acceptsApiKey } from './openapi-security.ts';

interface DoorOperation {
  readonly door: Door;
  readonly method: DoorMethod;
  readonly operationId: string;
}

/** A Response Object of OpenAPI before its headers are references, and its name as a component. */
interface NamedResponse {
  /** Null if no name says in short what it is. */
  readonly name: string | null;
  readonly description: string;
  readonly headers?: Readonly<Record<string, JsonObject>>;
  readonly content?: JsonObject;
}

/** All responses of an operation, by status. */
export function responses({ door, method, operationId }: DoorOperation, { schemas, parts }: Components): JsonObject {
  const good = success(door, method, schemas);
  const all: Record<string, NamedResponse> = {
    ...Object.fromEntries(
      [door.status, ...door.other_statuses].map(status => [
        status,
        { ...good, description: successes[status] ?? 'The request succeeded.' },
      ]),
    ),
    ...(door.again ? { [door.again.status]: { ...good, description: DONE_BEFORE } } : {}),
    ...failures(door, method, schemas),
    ...(isKept(door) ? { 304: unchanged } : {}),
    ...(door.price ? { 402: paymentRequiredResponse(door, schemas) } : {}),
  };
  return Object.fromEntries(
    Object.entries(all).map(([status, { name, headers, ...response }]) => [
      status,
      parts.response({ ...response, ...(headers && { headers: parts.headers(headers) }) }, name, operationId, status),
    ]),
  );
}

function success(door: Door, method: DoorMethod, schemas: ComponentSchemas): Omit<NamedResponse, 'description'> {
  return {
    name: null,
    headers: {
      ...(door.price ? answerHeaders.settled : {}),
      ...(method !== 'GET' && acceptsIdempotencyKey(door) ? answerHeaders.doneOnce : {}),
      ...(door.price && !door.price.stamp ? answerHeaders.receipt : {}),
      ...(door.asks_again ? answerHeaders.fault : {}),
      ...(isRated(door) ? answerHeaders.rate : {}),
      ...(isKept(door) ? answerHeaders.kept : {}),
      ...(door.in_pieces ? answerHeaders.inPieces : {}),
      ...(door.says_extent ? answerHeaders.extent : {}),
      ...door.face?.headers,
    },
    content: {
      ...content(door.media, schemas.of(door.response, 'output')),
      ...(door.event ? content('text/event-stream', schemas.of(door.event, 'output')) : {}),
      ...Object.assign({}, ...forClients(door).map(media => content(media, { type: 'string' }))),
    },
  };
}

const unchanged: NamedResponse = {
  name: 'NotModified',
  description: 'The stored copy of the client is current. The body is empty.',
  headers: { ...answerHeaders.kept, ...answerHeaders.rate },
};

/** Refusals and errors by status, except for the 402. */
function failures(door: Door, method: DoorMethod, schemas: ComponentSchemas): Record<string, NamedResponse> {
  const faults: Record<string, NamedResponse> = {};
  for (const [status, codes] of byStatus(faultsOf(door, method).filter(code => hasBody(door, code))))
    faults[status] = fault(door, status, codes, schemas);
  for (const status of closedStatuses(door)) {
    const cause = closingCause(door, status);
    const coded = faults[status];
    faults[status] = coded
      ? { ...coded, name: null, description: `${coded.description} If ${cause}, the body is empty.` }
      : { name: closedName(door, status), description: `${capital(cause)}. The body is empty.` };
  }
  return faults;
}

/** Media types that Accept chooses are left out: with them a generated client could not tell the type of its response. */
function forClients({ other_media, by_accept }: Pick<Columns, 'other_media' | 'by_accept'>): readonly string[] {
  return by_accept.length === 0 ? other_media : [];
}

function fault(
  { price, refusal, faults, face }: Columns,
  status: number,
  codes: readonly ErrorCode[],
  schemas: ComponentSchemas,
): NamedResponse {
  const refuses = status === REFUSED && refusal !== null;
  const { media, shape } = faultForms[faults];
  return {
    name: faultName([...new Set(codes)], price !== null),
    description: describeErrors([...new Set(codes)]),
    headers: {
      ...answerHeaders.fault,
      // An act of a session can fail because its payment is spent, though the act itself is not paid for.
      ...(codes.includes('idempotency_key_conflict') ? answerHeaders.foreignKey : {}),
      ...(price || codes.includes('claim_already_settled') ? answerHeaders.paidFault : {}),
      ...(refuses ? answerHeaders.refusal : {}),
      ...(status === TOO_MANY ? answerHeaders.rate : {}),
      ...(codes.includes('blocked_too_often') ? answerHeaders.refusedBefore : {}),
    },
    content: {
      ...content(media, schemas.of(refuses ? refusal : shape, 'output')),
      ...(face?.hasHttpStatus(status) ? content('application/json', schemas.of(face.fault, 'output')) : {}),
    },
  };
}

/** The name of a response with one or two error codes, such as PaidRateLimited at an endpoint that sells something. */
function faultName(codes: readonly ErrorCode[], is_paid: boolean): string | null {
  return codes.length > 2 ? null : (is_paid ? 'Paid' : '') + codes.map(pascal).join('Or');
}

function describeErrors(codes: readonly ErrorCode[]): string {
  const [sole, ...others] = codes;
  if (sole !== undefined && others.length === 0) return `Error code: \`${sole}\`. ${errors[sole][1]}`;
  return `Error codes: ${codes.map(code => `\`${code}\``).join(', ')}. \`code\` says which one it is, and \`detail\` explains it.`;
}

/** By another protocol at the same path, every error has a body. */
function hasBody({ face }: Columns, code: ErrorCode): boolean {
  return face !== null || closingCodes[code] === undefined;
}

/** The summary of an endpoint says what it does. */
const successes: Readonly<Record<number, string>> = {
  200: 'The request succeeded. The body is its result.',
  201: 'The request was recorded. The body shows what was recorded.',
  202: 'The request was accepted. The work goes on after this response.',
};

const REFUSED = 403;
const TOO_MANY = 429;
export const isKept = ({ cache }: Columns): boolean => cache !== NO_STORE;
const isRated = ({ rated, price }: Columns): boolean => rated && price === null;
const DONE_BEFORE = 'The same request was carried out before. The response shows what it recorded, as it is now.';
const credentialFaults = {
  401: {
    proof: 'the proof of possession that this request requires is missing',
    session: 'the session of the book is missing',
    bound_proof: 'the proof of possession that this request requires is missing',
    secret: 'the required secret of the board is missing',
    key: 'the required ingest key is missing',
    proof_or_token: 'both the proof of possession and the token are missing',
    key_or_proof: 'both the ingest key and the proof of possession are missing',
  },
  403: {
    proof: 'the proof of possession is invalid, used already or of another book',
    session: 'the session is invalid or of another book, or a proof was sent in its place',
    bound_proof: 'the proof of possession is invalid, used already, of another book or not bound to this request',
    secret: 'the secret of the board is invalid',
    key: 'the ingest key is invalid or of another book',
    proof_or_token: 'the proof of possession or the token is invalid, used already or of another book',
    key_or_proof: 'the ingest key or the proof of possession is invalid or of another book',
  },
} as const;

function credentialOf({
  board_secret,
  ingest_key,
  slice_token,
  possession,
}: Columns): keyof (typeof credentialFaults)[401] {
  if (board_secret !== 'none') return 'secret';
  const proof = slice_token === 'instead' ? 'proof_or_token' : proofs[possession];
  return ({ none: proof, required: 'key', or_session: 'key_or_proof' } as const)[ingest_key];
}

const proofs = {
  none: 'proof',
  offered: 'proof',
  required: 'proof',
  session: 'session',
  bound: 'bound_proof',
} as const satisfies Record<Columns['possession'], keyof (typeof credentialFaults)[401]>;

/** A demo key cannot write, and its refusal has no body either. */
function demoKeyAt({ board_secret, ingest_key, price, effect }: Columns): string {
  if (board_secret !== 'none' || ingest_key !== 'none') return '';
  if (price) return price.paid_by.includes('demo_key') ? '' : ', or a demo key was sent in place of a payment';
  return effect === 'reads' ? '' : ', or a demo key was sent';
}

/** Why a response has an empty body, as the rest of a sentence. */
function closingCause(door: Columns, status: 401 | 403): string {
  if (status === 401) return credentialFaults[401][credentialOf(door)];
  if (!isOpenedBySecret(door) && door.price === null)
    return 'a credential of the request does not allow it, such as a demo key, which cannot write';
  return credentialFaults[403][credentialOf(door)] + demoKeyAt(door);
}

/** The name of a response with an empty body, such as MissingProof or InvalidSessionOrDemoKey. */
function closedName(door: Columns, status: 401 | 403): string {
  const credential = pascal(credentialOf(door));
  if (status === 401) return `Missing${credential}`;
  if (!isOpenedBySecret(door)) return 'Forbidden';
  return `Invalid${credential}${demoKeyAt(door) === '' ? '' : 'OrDemoKey'}`;
}

const capital = (sentence: string) => sentence.charAt(0).toUpperCase() + sentence.slice(1);

/** Statuses with an empty body. A paid door does not require a session, but refuses an invalid one. */
function closedStatuses(door: Columns): (401 | 403)[] {
  const { possession, ingest_key, board_secret, price, errors } = door;
  const requires = [possession, ingest_key, board_secret].some(column => column !== 'none' && column !== 'offered');
  const lists = (code: ErrorCode) => errors.includes(code) && !hasBody(door, code);
  return [
    ...(requires || lists('unauthenticated') ? ([401] as const) : []),
    ...(isOpenedBySecret(door) || price !== null || lists('forbidden') ? ([403] as const) : []),
  ];
}

/** Whether the endpoint reads a secret of the caller, required or not, other than a payment. */
function isOpenedBySecret({ possession, ingest_key, board_secret }: Columns): boolean {
  return [possession, ingest_key, board_secret].some(column => column !== 'none');
}

function paymentRequiredResponse({ face }: Columns, schemas: ComponentSchemas): NamedResponse {
  const body = face ? z.union([PaymentRequired, face.fault]) : PaymentRequired;
  return {
    name: 'PaymentRequired',
    description:
      'Payment is required, or the payment or API key that was sent is not accepted: `error` in the body says why. The offer is in the header PAYMENT-REQUIRED (x402 version 2) and in the body (version 1).',
    headers: { ...answerHeaders.challenge, ...answerHeaders.paidFault },
    content: content('application/json', schemas.of(body, 'output')),
  };
}

const onceForKey: readonly ErrorCode[] = [
  'idempotency_key_conflict',
  'idempotency_key_in_flight',
  'idempotency_answer_gone',
];

/** Error codes that the columns imply, and those that the row adds. */
function faultsOf(door: Door, method: DoorMethod): ErrorCode[] {
  const body: ErrorCode[] = method === 'GET' ? [] : ['request_timeout', 'request_too_large', 'unsupported_media_type'];
  const paid: ErrorCode[] = [
    'invalid_payment',
    'book_not_named',
    'delegation_invalid',
    'act_expired',
    'act_signature_invalid',
    'grant_exceeded',
    'session_not_active',
    'session_cap_exceeded',
    'parent_not_on_book',
    'payment_in_flight',
    'call_canceled',
    'claim_already_settled',
    'payment_already_used',
    'payment_lapsed',
    'payer_proof_required',
    'answer_gone',
    'idempotency_key_conflict',
  ];
  const named: ErrorCode[] = [
    ...(door.price?.stamp ? [] : (['payment_identifier_conflict', 'kill_switch_resend'] as const)),
    ...(acceptsApiKey(door) ? (['idempotency_key_in_flight'] as const) : []),
  ];
  const chain: ErrorCode[] = ['settlement_pending', 'chain_unavailable', 'facilitator_unavailable', 'fee_too_high'];
  return [
    'invalid_request',
    'headers_too_large',
    ...body,
    ...(door.price ? [...paid, ...named, ...chain] : []),
    ...(method !== 'GET' && acceptsIdempotencyKey(door) ? onceForKey : []),
    // Requests that no payment covers are limited by address: free doors, invalid credentials, invalid payments.
    ...(door.rated ? (['rate_limited'] as const) : []),
    ...(door.refusal ? (['blocked_too_often'] as const) : []),
    ...door.errors,
    // A paid request writes to a book, or returns a stored answer.
    ...(door.price ? (['book_damaged', 'record_damaged'] as const) : []),
    // All endpoints except pages need the database.
    ...(door.kind === 'page' ? [] : (['unavailable'] as const)),
    'internal',
  ];
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const statuses = new Map<number, ErrorCode[]>();
  for (const code of codes) statuses.set(errors[code][0], [...(statuses.get(errors[code][0]) ?? []), code]);
  return statuses;
}

/** Content of one media type. */
export function content(media: string, schema: Json): JsonObject {
  return { [media.split(';')[0] ?? media]: { schema } };
}
