/** A detached JWS over the canonical form of the agent card that contains it (RFC 7515, appendix F). */
export interface CardSignature {
  readonly protected: string;
  readonly signature: string;
}
