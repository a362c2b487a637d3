import type { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { opaqueMembers, toCamelKeys } from '../../schema/requests/case.ts';
import type { Intent } from '../../schema/requests/intent.ts';
import type { DoorPrice } from '../door.ts';
import { RefusedCall } from '../receipt/refusal-answers.ts';
import { IntentHeaders, withIntent } from './intent-headers.ts';

const callPrice: DoorPrice = {
  amount_atomic: limits.call_price_atomic,
  networks: ['base', 'solana'],
  paid_by: ['payment', 'live_key', 'demo_key'],
};

/** The columns in which all doors that sell work are alike. */
export const paidWork = {
  methods: ['POST'],
  tags: ['inference'],
  price: callPrice,
  body_bytes_max: limits.request_bytes_max,
  headers: IntentHeaders,
  refusal: RefusedCall,
} as const;

/** The one variable of their documents: the body, with the intent that it or its headers name. */
export function inputOf<B extends Intent>(request: { body: B; headers: z.output<typeof IntentHeaders> }) {
  return { input: toCamelKeys(withIntent(request.body, request.headers), opaqueMembers) as JsonObject };
}
