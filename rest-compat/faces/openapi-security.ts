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
};

const byToken: Readonly<Record<Columns['slice_token'], readonly string[] | null>> = {
  none: null,
  whole: ['slice_token', 'slice_token_in_query'],
  instead: ['slice_token'],
};

/** Each combination of credentials that opens the door, as OpenAPI's "any of, each all of". */
export function security({ price, possession, slice_token, waived_by }: Columns): Json {
  const pays = byKey({ price }) ? ['x402', 'x402_v1', 'bearer', 'api_key'] : ['x402', 'x402_v1'];
  const toll: (string | null)[] = price ? pays : [null];
  if (waived_by) toll.push(null);
  const tokens = byToken[slice_token] ?? [];
  const key = slice_token === 'whole' ? tokens : [...shownFor[possession], ...tokens];
  return toll.flatMap(paid =>
    key.map(held => Object.fromEntries([paid, held].filter(name => name !== null).map(name => [name, []]))),
  );
}
