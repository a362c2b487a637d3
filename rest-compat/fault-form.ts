import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../schema/canonical-json.ts';
import { nameComponents, Problem } from './answer-shapes.ts';

/*
 * In which form a door tells a fault by HTTP. A door of another maker's API has clients that read that maker's form; the members of ours
 * stand beside it, since they say what became of a payment.
 */

export interface FaultForm {
  readonly media: string;
  readonly shape: z.ZodType;
  /** A problem (RFC 9457) as the door tells it; an offer of x402 likewise, whose members its clients read. */
  write(body: JsonObject, status: number): JsonObject;
}

/** The kinds of Anthropic's errors, by status (https://platform.claude.com/docs/en/api/errors). */
const kinds: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

export function anthropicKind(status: number): string {
  return kinds[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

export const MessageFault = Problem.extend({
  type: z.literal('error'),
  error: z
    .object({
      type: z.string().describe('`invalid_request_error`, `permission_error`, `overloaded_error` and the like.'),
      message: z.string(),
      code: z.string(),
      param: z.string().nullable(),
    })
    .describe(
      "The same error in the form that Anthropic's clients read. For a hub's verdict, `code` and `param` are the hub's own; top-level `code` is this service's.",
    ),
});

nameComponents({ MessageFault });

export const faultForms = {
  problem: { media: 'application/problem+json', shape: Problem, write: body => body },
  anthropic: {
    media: 'application/json',
    shape: MessageFault,
    write(body, status) {
      const { error } = body;
      // x402 has a text there, which its clients check; Anthropic's read the sentence beside it.
      if (!isJsonObject(error)) return { ...body, type: 'error', message: error ?? null };
      return { ...body, type: 'error', error: { ...error, type: anthropicKind(status) } };
    },
  },
} as const satisfies Record<string, FaultForm>;

export type FaultFormName = keyof typeof faultForms;

interface Outcome {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** An outcome in the form of its door: what is no fault, or has no body, as it is. */
export function inFaultForm<O extends Outcome>(name: FaultFormName, outcome: O): O {
  const { status, headers, body } = outcome;
  if (name === 'problem' || status < 400 || typeof body !== 'string') return outcome;
  const form: FaultForm = faultForms[name];
  const written: Json = form.write(JSON.parse(body), status);
  return {
    ...outcome,
    headers: { ...headers, 'content-type': `${form.media}; charset=utf-8` },
    body: JSON.stringify(written),
  };
}
