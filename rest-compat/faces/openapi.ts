import { z } from 'zod';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, errors } from '../../schema/errors.ts';
import { PaymentRequired, Problem } from '../answer-shapes.ts';
import { type Columns, type Door, type DoorMethod, NO_STORE } from '../door.ts';
import { jsonSchema } from '../door-schemas.ts';
import { answerHeaders } from './openapi-headers.ts';
import {
  idempotencyKey,
  ifNoneMatch,
  proofForms,
  proofNonce,
  redelivery,
  routerKey,
  unchanged,
} from './openapi-parameters.ts';

/** OpenAPI 3.1 of the door table: a door's columns are all that is known of it. */
export function openApi(doors: readonly Door[], base_url: string): JsonObject {
  const paths = Object.fromEntries(
    [...Map.groupBy(doors, door => door.path)].map(([path, here]) => [path, pathItem(here)]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Spend receipt gateway',
      version: '1.0.0',
      description:
        'Paid doors answer 402 with their price before they look at a body; pay by x402 and send it again. OPTIONS at any ' +
        'path: 204, with its methods in Allow and, to a page of another origin, with what it may send. Each answer has an ' +
        'x-request-id.',
    },
    servers: [{ url: base_url }],
    paths,
    components: {
      securitySchemes,
      schemas: { Problem: jsonSchema(Problem, 'output'), Challenge: jsonSchema(PaymentRequired, 'output') },
    },
  };
}

function pathItem(here: readonly Door[]): JsonObject {
  return Object.fromEntries(
    here.flatMap(door => door.methods.map(method => [method.toLowerCase(), operation(door, method)])),
  );
}

const securitySchemes: JsonObject = {
  x402: {
    type: 'apiKey',
    in: 'header',
    name: 'PAYMENT-SIGNATURE',
    description: 'x402 version 2 payment, base64 JSON.',
  },
  x402_v1: { type: 'apiKey', in: 'header', name: 'X-PAYMENT', description: 'x402 version 1 payment, base64 JSON.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key that skips payment.' },
  api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key that skips payment.' },
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'X-SVC-Session',
    description: 'Possession secret; also body `session`.',
  },
  proof: { type: 'apiKey', in: 'header', name: 'X-SVC-Proof', description: proofForms },
};

/** Whether a key may stand in for the payment. */
function byKey({ price }: Pick<Columns, 'price'>): boolean {
  return price?.paid_by.some(means => means !== 'payment') ?? false;
}

const shownFor: Readonly<Record<Columns['possession'], readonly (string | null)[]>> = {
  none: [null],
  required: ['session', 'proof'],
  session: ['session'],
};

/** Each combination of credentials that opens the door, as OpenAPI's "any of, each all of". */
function security({ price, possession, waived_by }: Columns): Json {
  const pays = byKey({ price }) ? ['x402', 'x402_v1', 'bearer', 'api_key'] : ['x402', 'x402_v1'];
  const toll: (string | null)[] = price ? pays : [null];
  if (waived_by) toll.push(null);
  const key = shownFor[possession];
  return toll.flatMap(paid =>
    key.map(held => Object.fromEntries([paid, held].filter(name => name !== null).map(name => [name, []]))),
  );
}

function operation(door: Door, method: DoorMethod): JsonObject {
  const sole = door.methods[0] === method;
  const takesBody = method !== 'GET' && Object.keys(members(door.requests.body, 'input').properties).length > 0;
  return {
    operationId: sole ? door.name : `${door.name}_by_${method.toLowerCase()}`,
    summary: door.summary,
    ...(door.aliases.length > 0 ? { description: `Also at ${door.aliases.join(', ')}.` } : {}),
    tags: door.tags,
    security: security(door),
    parameters: [
      ...parameters(door.requests.params, 'path'),
      ...parameters(door.requests.query, 'query'),
      ...parameters(door.requests.headers, 'header'),
      ...(door.errors.includes('hub_failed') ? [routerKey] : []),
      ...(door.price ? [redelivery, idempotencyKey] : []),
      ...(door.possession === 'required' ? [proofNonce] : []),
      ...(isKept(door) ? [ifNoneMatch] : []),
    ],
    ...(takesBody ? { requestBody: requestBody(door) } : {}),
    responses: responses(door, method),
  };
}

function requestBody({ takes, body_bytes_max, requests }: Columns): JsonObject {
  const description = `At most ${body_bytes_max} bytes; longer ones are answered 413.`;
  return { description, content: content(takes, jsonSchema(requests.body, 'input')) };
}

function parameters(schema: z.ZodType, place: 'path' | 'query' | 'header'): JsonObject[] {
  const { properties, required } = members(schema, 'output');
  return Object.entries(properties).map(([name, shape]) => ({
    name,
    in: place,
    required: place === 'path' || (place === 'query' && required.includes(name)),
    schema: shape,
  }));
}

function responses(door: Door, method: DoorMethod): JsonObject {
  const faults: Record<string, JsonObject> = {};
  for (const [status, codes] of byStatus(faultsOf(door, method))) faults[status] = fault(door, status, codes);
  for (const status of closedStatuses(door)) {
    const description = [faults[status]?.description ?? [], EMPTY_BODY].flat().join('; ');
    faults[status] = { ...faults[status], description };
  }
  return {
    [door.status]: {
      description: door.summary,
      headers: {
        ...(door.price ? answerHeaders.settled : {}),
        ...(door.asks_again ? answerHeaders.fault : {}),
        ...(isRated(door) ? answerHeaders.rate : {}),
        ...(isKept(door) ? answerHeaders.kept : {}),
      },
      content: {
        ...content(door.media.split(';')[0] ?? door.media, jsonSchema(door.response, 'output')),
        ...(door.event ? content('text/event-stream', jsonSchema(door.event, 'output')) : {}),
        ...(door.plain_media ? content(door.plain_media.split(';')[0] ?? '', { type: 'string' }) : {}),
      },
    },
    ...faults,
    ...(isKept(door) ? { 304: unchanged } : {}),
    ...(door.price ? { 402: challenged } : {}),
  };
}

function fault({ price, refusal }: Columns, status: number, codes: readonly ErrorCode[]): JsonObject {
  const refuses = status === REFUSED && refusal !== null;
  return {
    description: codes.join(', '),
    headers: {
      ...answerHeaders.fault,
      ...(price ? answerHeaders.paidFault : {}),
      ...(refuses ? answerHeaders.refusal : {}),
      ...(status === TOO_MANY ? answerHeaders.rate : {}),
      ...(codes.includes('blocked_too_often') ? answerHeaders.refusedBefore : {}),
    },
    content: content('application/problem+json', refuses ? jsonSchema(refusal, 'output') : ref('Problem')),
  };
}

const REFUSED = 403;
const TOO_MANY = 429;
const isKept = ({ cache }: Columns): boolean => cache !== NO_STORE;
const isRated = ({ rated, price }: Columns): boolean => rated && price === null;
const EMPTY_BODY = 'Possession was not shown, is wrong, or is by a proof that was used: empty body.';

/** A wrong session closes a paid door too, though that asks for none. */
function closedStatuses({ possession, price }: Columns): number[] {
  if (possession !== 'none') return [401, 403];
  return price ? [403] : [];
}

const challenged: JsonObject = {
  description: 'Payment required: the offer, as x402 version 2 in the header and version 1 in the body.',
  headers: { ...answerHeaders.challenge, ...answerHeaders.paidFault },
  content: content('application/json', ref('Challenge')),
};

/** What the columns imply, and what the row adds. */
function faultsOf(door: Door, method: DoorMethod): ErrorCode[] {
  const body: ErrorCode[] = method === 'GET' ? [] : ['request_timeout', 'request_too_large', 'unsupported_media_type'];
  const paid: ErrorCode[] = [
    'invalid_payment',
    'payment_in_flight',
    'claim_already_settled',
    'payment_already_used',
    'payment_lapsed',
    'payer_proof_required',
    'answer_gone',
    'idempotency_key_conflict',
  ];
  const named: ErrorCode[] = [
    ...(door.price?.stamp ? [] : (['payment_identifier_conflict'] as const)),
    ...(byKey(door) ? (['idempotency_key_in_flight'] as const) : []),
  ];
  const chain: ErrorCode[] = ['settlement_pending', 'chain_unavailable', 'facilitator_unavailable', 'fee_too_high'];
  return [
    'invalid_request',
    'headers_too_large',
    ...body,
    ...(door.price ? [...paid, ...named, ...chain] : []),
    // What nobody pays for has its bound by address: free doors, wrong credentials, payments that prove nothing.
    ...(door.rated ? (['rate_limited'] as const) : []),
    ...(door.refusal ? (['blocked_too_often'] as const) : []),
    ...door.errors,
    // It lands on a book, or brings back what was bought.
    ...(door.price ? (['book_damaged', 'record_damaged'] as const) : []),
    // What stands in the database cannot be had while it is away.
    ...(door.kind === 'page' ? [] : (['unavailable'] as const)),
    'internal',
  ];
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const statuses = new Map<number, ErrorCode[]>();
  for (const code of codes) statuses.set(errors[code][0], [...(statuses.get(errors[code][0]) ?? []), code]);
  return statuses;
}

function content(media: string, schema: Json): JsonObject {
  return { [media]: { schema } };
}

function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function members(schema: z.ZodType, io: 'input' | 'output'): { properties: JsonObject; required: readonly string[] } {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return { properties: properties as JsonObject, required };
}
