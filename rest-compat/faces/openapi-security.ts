import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import type { Columns } from '../door.ts';
import { proofForms } from './openapi-parameters.ts';

export const securitySchemes: JsonObject = {
  x402: {
    type: 'apiKey',
    in: 'header',
    name: 'PAYMENT-SIGNATURE',
    description: 'x402 version 2 payment, base64 JSON.',
  },
  x402_v1: { type: 'apiKey', in: 'header', name: 'X-PAYMENT', description: 'x402 version 1 payment, base64 JSON.' },
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key that skips payment.' },
  api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key that skips payment.' },
  slice_token: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of an assignment: it opens its slice and nothing else.',
  },
  slice_token_in_query: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'The same, where no header can be set.',
  },
  ingest_key: {
    type: 'http',
    scheme: 'bearer',
    description: 'The key of a router book: it opens that and nothing else.',
  },
  board_ops: {
    type: 'apiKey',
    in: 'header',
    name: 'X-SVC-Board-Ops',
    description: "The secret of the board's operators: it hides what stands there and opens nothing else.",
  },
  board_inbound: {
    type: 'apiKey',
    in: 'header',
    name: 'X-SVC-Board-Inbound',
    description:
      'The secret of a client that reports completions from elsewhere. It opens that endpoint and nothing else.',
  },
  board_inbound_bearer: { type: 'http', scheme: 'bearer', description: 'The same, as a bearer.' },
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'X-SVC-Session',
    description: 'Possession secret; also body `session`.',
  },
  proof: { type: 'apiKey', in: 'header', name: 'X-SVC-Proof', description: proofForms },
};

/** Whether a key may stand in for the payment. */
export function byKey({ price }: Pick<Columns, 'price'>): boolean {
  return price?.paid_by.some(means => means !== 'payment') ?? false;
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

/** Each combination of credentials that opens the door, as OpenAPI's "any of, each all of". */
export function security({ price, possession, slice_token, ingest_key, board_secret, waived_by }: Columns): Json {
  const pays = byKey({ price }) ? ['x402', 'x402_v1', 'bearer', 'api_key'] : ['x402', 'x402_v1'];
  const toll: (string | null)[] = price ? pays : [null];
  if (waived_by) toll.push(null);
  const tokens = byToken[slice_token] ?? [];
  const shown = byBoardSecret[board_secret] ?? byIngestKey[ingest_key] ?? [...shownFor[possession], ...tokens];
  const key = slice_token === 'whole' ? tokens : shown;
  return toll.flatMap(paid =>
    key.map(held => Object.fromEntries([paid, held].filter(name => name !== null).map(name => [name, []]))),
  );
}
