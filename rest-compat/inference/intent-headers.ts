import { z } from 'zod';
import { AttemptIndex, type Intent, IntentId } from '../../schema/requests/intent.ts';
import { digits } from '../media/digits.ts';

/** The intent as headers name it, on every door that sells work. */
export const IntentHeaders = z.object({
  'x-svc-intent': IntentId,
  'x-svc-attempt': digits(AttemptIndex).optional(),
});

/** The body with the intent it serves: a body that names it itself goes before the headers. */
export function withIntent<B extends Intent>(body: B, headers: z.output<typeof IntentHeaders>): B {
  return {
    ...body,
    intent_id: body.intent_id ?? headers['x-svc-intent'],
    attempt_index: body.attempt_index ?? headers['x-svc-attempt'] ?? null,
  };
}
