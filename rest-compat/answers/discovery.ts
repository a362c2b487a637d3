import { z } from 'zod';
import { JsonMembers } from './receipt.ts';

export const Health = z.looseObject({ status: z.enum(['ok', 'degraded']) });

/** RFC 9457, and beside it the `error` that OpenAI clients read. Facts of the error stand as further members. */
export const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  error: z.object({ message: z.string(), type: z.string(), code: z.string(), param: z.string().nullable() }),
});

/** x402 version 1; version 2 says the same in the PAYMENT-REQUIRED header. */
export const Challenge = z.looseObject({
  x402Version: z.literal(1),
  error: z.string(),
  accepts: z.array(JsonMembers),
});

export const Manifest = z.object({
  x402Version: z.literal(2),
  resources: z.array(
    z.object({
      resource: z.string(),
      type: z.literal('http'),
      method: z.string(),
      name: z.string(),
      description: z.string(),
      price_atomic: z.string(),
      networks: z.array(z.string()),
      accepts: z.array(JsonMembers),
    }),
  ),
});
