import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../schema/canonical-json.ts';
import { FAULTY_MEMBER, nameComponents, Problem } from './answer-shapes.ts';

/*
 * The form of an error by HTTP. Clients of another provider's API read the form of that provider; our own members are added, because they
 * state what happened to the payment.
 */

export interface FaultForm {
  readonly media: string;
  readonly shape: z.ZodType;
  /** The form of a problem (RFC 9457), or of an x402 offer. */
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
      type: z
        .string()
        .describe('Kind of the error as Anthropic names it, such as `invalid_request_error` or `overloaded_error`.'),
      message: z.string().describe('The same sentence as `detail`.'),
      code: z
        .string()
        .describe('Code of the error: the same as the top-level `code`, unless a hub refused the request.'),
      param: z.string().nullable().describe(FAULTY_MEMBER),
    })
    .describe(
      "The same error in the form that Anthropic's clients read. If a hub refused the request, `code` and `param` are those of the hub, and the top-level `code` is that of this service.",
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
      // In an x402 offer `error` is a text, which its clients check, so Anthropic's clients get it as `message`.
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

/** An outcome in the form of its door. Unchanged if it is not an error or has no body. */
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
