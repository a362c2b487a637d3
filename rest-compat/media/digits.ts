import { z } from 'zod';

/** An integer that travels as text, in a query or a header: digits only, so that `1e2` and `0x10` are none. */
export function digits<S extends z.ZodType<number>>(integer: S): z.ZodType<number> {
  return z.preprocess(text => (typeof text === 'string' && /^[0-9]{1,15}$/.test(text) ? Number(text) : text), integer);
}
