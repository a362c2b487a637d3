import { jobLimits, limits, mcpLimits } from '../../../schema/limits.ts';

const file_in_base64_bytes_max = 4 * Math.ceil(limits.upload_file_bytes_max / 3);

/** Limits for MCP clients, with the unit last in each name. */
export const bounds = {
  ...mcpLimits,
  /** Size of a message without a file or of unknown length: twice the largest JSON body of an endpoint. */
  message_bytes_max: 2 * jobLimits.reveal_request_bytes_max,
  /** Size of a message with a base64 file: the largest file of a form, and the largest fields. */
  file_message_bytes_max: file_in_base64_bytes_max + limits.upload_form_bytes_max - limits.upload_file_bytes_max,
  /** Total size of such messages that one process receives at once. */
  file_messages_bytes_max: limits.uploads_bytes_max,
  /** How long such a message may wait: half of the time that it has to arrive. */
  file_line_ms_max: limits.request_ms_max / 2,
  /** Largest response that `npm run mcp` reads: a body, and the same body as text with each character escaped. */
  answer_bytes_max: 3 * limits.subgraph_answer_bytes_max,
} as const;
