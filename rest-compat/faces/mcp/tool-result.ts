import type { JsonObject } from '../../../schema/canonical-json.ts';
import { errors } from '../../../schema/errors.ts';
import type { DoorOutcome } from '../../call.ts';
import type { Answer } from '../../problem.ts';
import type { Protocol } from './generation.ts';
import { type RequestId, resultFrame, resultText } from './json-rpc.ts';
import { ITEMS, isJson } from './output-schema.ts';
import { answerMeta, PAYMENT_EXTENSION, requiredText } from './payment-meta.ts';
import { resultEnd } from './server.ts';
import { writeTwice } from './write-twice.ts';

/** Result of a tool as text and as structured content. */
type ToolContent =
  /** JSON text. Structured content must be an object (2025-06-18, "Structured Content"), so a list is wrapped in one. */
  | { readonly kind: 'json'; readonly json: string; readonly wrapped_in?: readonly [string, string] }
  | { readonly kind: 'other'; readonly text: string; readonly structured: JsonObject };

/**
 * The answer of an endpoint as the result of a tool: the whole message in UTF-8. The body is copied, not parsed, so that signed content
 * stays the same. Streamed answers are refused before they are paid (call-tool.ts).
 */
export function toolMessage(id: RequestId, outcome: DoorOutcome, protocol: Protocol): Buffer {
  const meta = answerMeta(outcome.headers);
  const answer: Answer = wholeAnswer(outcome);
  const required = answer.status === 402 ? requiredText(answer.headers) : null;
  if (required !== null && PAYMENT_EXTENSION in protocol.extensions) {
    return Buffer.from(resultText(id, paymentRequired(required, meta, protocol)));
  }
  const [message_begin, message_end] = resultFrame(id);
  const failed = answer.status >= 400 ? ',"isError":true' : '';
  const before = `${message_begin}{"structuredContent":`;
  const between = ',"content":[{"type":"text","text":';
  const after = `}]${failed}${resultEnd(protocol, meta)}}${message_end}`;
  const it: ToolContent = required === null ? contentOf(answer) : { kind: 'json', json: required };
  if (it.kind === 'other') {
    return Buffer.from(`${before}${JSON.stringify(it.structured)}${between}${JSON.stringify(it.text)}${after}`);
  }
  const [wrap_begin, wrap_end] = it.wrapped_in ?? ['', ''];
  return writeTwice(`${before}${wrap_begin}`, it.json, `${wrap_end}${between}`, after);
}

/** A price as the result of the x402 extension: the tool did not run, and there is no error. */
function paymentRequired(required: string, meta: JsonObject | null, protocol: Protocol): string {
  return `{"paymentRequired":${required}${resultEnd(protocol, meta, 'payment_required')}}`;
}

function wholeAnswer(outcome: DoorOutcome): Answer {
  const { body } = outcome;
  if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) return { ...outcome, body };
  throw new Error('a tool was answered in events');
}

function contentOf({ status, headers, body }: Answer): ToolContent {
  const media = headers['content-type'] ?? '';
  if (body === null) return { kind: 'json', json: JSON.stringify(emptyBodyFacts(status)) };
  if (typeof body === 'string' && isJson(media)) {
    return { kind: 'json', json: body, ...(body.startsWith('[') && { wrapped_in: [`{"${ITEMS}":`, '}'] }) };
  }
  const [media_type = ''] = media.split(';');
  if (typeof body === 'string') return { kind: 'other', text: body, structured: { media_type, text: body } };
  return { kind: 'json', json: JSON.stringify({ media_type, base64: body.toString('base64') }) };
}

/** 401 and 403 on possession have no body, but a model sees no status, so the text states it. */
function emptyBodyFacts(status: number): JsonObject {
  const code = ({ 401: 'unauthenticated', 403: 'forbidden' } as const)[status];
  return code ? { status, code, title: errors[code][1] } : { status, code: 'empty' };
}
