import type { JsonObject } from '../../../schema/canonical-json.ts';
import { errors } from '../../../schema/errors.ts';
import type { DoorOutcome } from '../../call.ts';
import type { Answer } from '../../problem.ts';
import type { Spoken } from './generation.ts';
import { ITEMS, isJson } from './output-schema.ts';
import { answerMeta, PAYMENT_EXTENSION, requiredText } from './payment-meta.ts';
import { ending } from './server.ts';

/** What a tool's result says: `structured` is JSON text, and goes out as the door wrote it. */
interface Said {
  readonly text: string;
  readonly structured: string;
}

/**
 * A door's answer as the result of a tool, in JSON text. The body is not read and written anew: what was signed stays as it is. An
 * answer in events is none of a tool's: whatever would be one is refused before it is paid (call-tool.ts).
 */
export function toolResult(outcome: DoorOutcome, spoken: Spoken): string {
  const meta = answerMeta(outcome.headers);
  const answer: Answer = whole(outcome);
  const required = answer.status === 402 ? requiredText(answer.headers) : null;
  if (required !== null && PAYMENT_EXTENSION in spoken.extensions) return paymentRequired(required, meta, spoken);
  const { text, structured } = required === null ? said(answer) : { text: required, structured: required };
  const failed = answer.status >= 400 ? ',"isError":true' : '';
  const content = `"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${structured}`;
  return `{${content}${failed}${ending(spoken, meta)}}`;
}

/** The extension's own result: nothing was run, and nothing is wrong. */
function paymentRequired(required: string, meta: JsonObject | null, spoken: Spoken): string {
  return `{"paymentRequired":${required}${ending(spoken, meta, 'payment_required')}}`;
}

function whole(outcome: DoorOutcome): Answer {
  const { body } = outcome;
  if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) return { ...outcome, body };
  throw new Error('a tool was answered in events');
}

function said({ status, headers, body }: Answer): Said {
  const media = headers['content-type'] ?? '';
  if (body === null) return asJson(silent(status));
  if (typeof body === 'string' && isJson(media)) return { text: body, structured: structuredOf(body) };
  const [media_type = ''] = media.split(';');
  if (typeof body === 'string') return { text: body, structured: JSON.stringify({ media_type, text: body }) };
  return asJson({ media_type, base64: body.toString('base64') });
}

/** What is structured is an object (2025-06-18, "Structured Content"): a list stands in one. */
function structuredOf(json: string): string {
  return json.startsWith('[') ? `{"${ITEMS}":${json}}` : json;
}

function asJson(value: JsonObject): Said {
  const text = JSON.stringify(value);
  return { text, structured: text };
}

/** 401 and 403 on possession say no more than that, as specified; a model has no status to read. */
function silent(status: number): JsonObject {
  const code = ({ 401: 'unauthenticated', 403: 'forbidden' } as const)[status];
  return code ? { status, code, title: errors[code][1] } : { status, code: 'empty' };
}
