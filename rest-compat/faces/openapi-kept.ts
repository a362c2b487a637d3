import type { JsonObject } from '../../schema/canonical-json.ts';
import { answerHeaders } from './openapi-headers.ts';

/** Read wherever an answer may be kept; no door looks into it. */
export const ifNoneMatch: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'ETags of what the caller holds: where one of them still names the document, the answer is 304.',
  schema: { type: 'string' },
};

export const unchanged: JsonObject = {
  description: 'If-None-Match names what the document says still; without a body.',
  headers: { ...answerHeaders.kept, ...answerHeaders.rate },
};
