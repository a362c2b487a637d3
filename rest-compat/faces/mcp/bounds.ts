/** What a client of MCP may take here; units stand last in each name. */
export const bounds = {
  /** Of one message: more than the largest request of a door, since a file comes in it as base64. */
  message_bytes_max: 4 * 1024 * 1024,
  /** Between two words of how a call is coming along, to whoever asks for them. */
  progress_every_ms: 2_000,
  /** What `npm run mcp` takes of the service within one answer. */
  answer_bytes_max: 16 * 1024 * 1024,
  /** Longer than any call takes: its hubs, its settlement and what it waits for. */
  answer_ms_max: 300_000,
  /** Messages of one client that are forwarded at once. */
  underway_max: 64,
} as const;
