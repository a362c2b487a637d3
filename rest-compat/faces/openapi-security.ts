import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import type { Columns } from '../door.ts';
import type { OwnHeader } from '../request-headers.ts';
import { proofForms } from './openapi-parameters.ts';

export const securitySchemes: JsonObject = {
  x402: {
    type: 'apiKey',
    in: 'header',
    name: 'PAYMENT-SIGNATURE' satisfies OwnHeader,
    description: 'Payment by x402 version 2, as base64 JSON.',
  },
  x402_v1: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT' satisfies OwnHeader,
    description: 'Payment by x402 version 1, as base64 JSON.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'API key, accepted in place of a payment.' },
  api_key: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key' satisfies OwnHeader,
    description: 'API key, accepted in place of a payment.',
  },
  slice_token: {
    type: 'http',
    scheme: 'bearer',
    description: 'Token of an assignment. It gives access to its slice only.',
  },
  slice_token_in_query: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'Token of an assignment, for clients that cannot set a header.',
  },
  ingest_key: {
    type: 'http',
    scheme: 'bearer',
    description: 'Ingest key of a router book. It gives access to that book only.',
  },
  board_ops: {
    type: 'apiKey',
    in: 'header',
    name: 'X-SVC-Board-Ops' satisfies OwnHeader,
    description: "Secret of the board's operators. It only lists flags, and hides or shows content.",
  },
  board_inbound: {
    type: 'apiKey',
    in: 'header',
    name: 'X-SVC-Board-Inbound' satisfies OwnHeader,
    description: 'Secret of a client that reports completions from elsewhere. It gives access to that endpoint only.',
  },
  board_inbound_bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'Secret of X-SVC-Board-Inbound, as a bearer token.',
  },
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'X-SVC-Session' satisfies OwnHeader,
    description: 'Secret that opens the book. Also accepted as `session` in the body.',
  },
  proof: { type: 'apiKey', in: 'header', name: 'X-SVC-Proof' satisfies OwnHeader, description: proofForms },
};

/** Whether an API key is accepted in place of a payment. */
export function acceptsApiKey({ price }: Pick<Columns, 'price'>): boolean {
  return price?.paid_by.some(method => method !== 'payment') ?? false;
}

const shownFor: Readonly<Record<Columns['possession'], readonly (string | null)[]>> = {
  none: [null],
  offered: [null, 'session', 'proof'],
  required: ['session', 'proof'],
  session: ['session'],
  bound: ['session', 'proof'],
};

const byToken: Readonly<Record<Columns['slice_token'], readonly string[] | null>> = {
  none: null,
  whole: ['slice_token', 'slice_token_in_query'],
  instead: ['slice_token'],
};

const byIngestKey: Readonly<Record<Columns['ingest_key'], readonly string[] | null>> = {
  none: null,
  required: ['ingest_key'],
  or_session: ['ingest_key', 'session'],
};

const byBoardSecret: Readonly<Record<Columns['board_secret'], readonly string[] | null>> = {
  none: null,
  ops: ['board_ops'],
  inbound: ['board_inbound', 'board_inbound_bearer'],
};

/** The combinations of credentials that a door accepts: any item of the list, with all credentials of the item. */
export function security({ price, possession, slice_token, ingest_key, board_secret, waived_by }: Columns): Json {
  const pays = acceptsApiKey({ price }) ? ['x402', 'x402_v1', 'bearer', 'api_key'] : ['x402', 'x402_v1'];
  const payment_schemes: (string | null)[] = price ? pays : [null];
  if (waived_by) payment_schemes.push(null);
  const tokens = byToken[slice_token] ?? [];
  const shown = byBoardSecret[board_secret] ?? byIngestKey[ingest_key] ?? [...shownFor[possession], ...tokens];
  const key = slice_token === 'whole' ? tokens : shown;
  return payment_schemes.flatMap(paid =>
    key.map(held => Object.fromEntries([paid, held].filter(name => name !== null).map(name => [name, []]))),
  );
}
