/**
 * Sessions of clients that begin with a handshake. They hold no state: the id itself states to whom it was given and until when it is
 * valid, so every process accepts the ids of the others.
 */
export interface ToolSessions {
  /** An id of visible ASCII (2025-11-25, "Session Management"). */
  begin(): string;
  /** False if the id was never given, or has expired. */
  isValid(id: string): boolean;
}
