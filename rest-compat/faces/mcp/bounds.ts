import { jobLimits, limits, mcpLimits } from '../../../schema/limits.ts';

const file_in_base64_bytes_max = 4 * Math.ceil(limits.upload_file_bytes_max / 3);

/** What a client of MCP may take here; units stand last in each name. */
export const bounds = {
  ...mcpLimits,
  /** Of a message that brings no file, or does not say how long it is: twice the largest request of a door in JSON. */
  message_bytes_max: 2 * jobLimits.reveal_request_bytes_max,
  /** Of one that brings a file in base64, as large as a form's, and beside it as much as a form may have. */
  file_message_bytes_max: file_in_base64_bytes_max + limits.upload_form_bytes_max - limits.upload_file_bytes_max,
  /** Of all such that are on their way to one process. */
  file_messages_bytes_max: limits.uploads_bytes_max,
  /** How long one waits so: half of what it has to arrive. */
  file_line_ms_max: limits.request_ms_max / 2,
  /** What `npm run mcp` takes of the service within one answer: its body, and once more as text, with each character escaped. */
  answer_bytes_max: 3 * limits.subgraph_answer_bytes_max,
} as const;
