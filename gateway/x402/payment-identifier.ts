import { isValidPaymentId, PAYMENT_IDENTIFIER } from '@x402/extensions/payment-identifier';
import { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';

/** What a 402 says of it: a client may name its purchase, and need not. How it is spelt the extension's own text says. */
export const identifierDeclared = { [PAYMENT_IDENTIFIER]: { info: { required: false }, schema: {} } };

/**
 * Of all that a client sends back of our extensions the identifier alone is read. One that breaks the rules is a
 * malformed payment: taken without it, a purchase could be made twice. The schema beside it is the client's own: it is
 * never compiled, as the package's own validation would.
 */
export const identified = z
  .object({
    [PAYMENT_IDENTIFIER]: z
      .object({ info: z.object({ id: z.string().refine(isValidPaymentId).optional() }) })
      .nullish(),
  })
  .nullish()
  .transform(extensions => extensions?.[PAYMENT_IDENTIFIER]?.info.id ?? null);

/** The extensions of a payment as far as they are read, in the form in which they came. */
export function keptExtensions(identifier: string | null): JsonObject {
  return identifier === null ? {} : { extensions: { [PAYMENT_IDENTIFIER]: { info: { id: identifier } } } };
}
