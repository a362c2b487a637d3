/**
 * Handshakes of clients that begin with one. Nothing is kept under them that a request without one would lack, so a session is no more
 * than its id, which says by itself whose it is and until when it stands: every process of the service takes what another has given.
 */
export interface ToolSessions {
  /** An id of visible ASCII (2025-11-25, "Session Management"). */
  begin(): string;
  /** False: it was never given, or stands no longer. */
  stands(id: string): boolean;
}
