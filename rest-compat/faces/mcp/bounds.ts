import { jobLimits, limits } from '../../../schema/limits.ts';

const file_in_base64_bytes_max = 4 * Math.ceil(limits.upload_file_bytes_max / 3);

/** What a client of MCP may take here; units stand last in each name. */
export const bounds = {
  /** Of a message that brings no file, or does not say how long it is: twice the largest request of a door in JSON. */
  message_bytes_max: 2 * jobLimits.reveal_request_bytes_max,
  /** Of one that brings a file in base64, as large as a form's, and beside it as much as a form may have. */
  file_message_bytes_max: file_in_base64_bytes_max + limits.upload_form_bytes_max - limits.upload_file_bytes_max,
  /** Of all such that are on their way to one process. */
  file_messages_bytes_max: limits.uploads_bytes_max,
  /** Of one address that wait unread while one is read. */
  file_line_max: 8,
  /** How long one waits so: half of what it has to arrive. */
  file_line_ms_max: limits.request_ms_max / 2,
  /** Between two words of how a call is coming along, to whoever asks for them. */
  progress_every_ms: 2_000,
  /** What `npm run mcp` takes of the service within one answer: its body, and once more as text, with each character escaped. */
  answer_bytes_max: 3 * limits.subgraph_answer_bytes_max,
  /** From here on answers are read one after the other: many may be underway. */
  short_answer_bytes_max: 1024 * 1024,
  /** Longer than any call takes: its hubs, its settlement and what it waits for. */
  answer_ms_max: 300_000,
  /** Messages of one client that are forwarded at once. */
  underway_max: 64,
} as const;
