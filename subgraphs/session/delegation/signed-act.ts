import type { ActRequest } from '../../../schema/requests/session.ts';
import type { ActTime } from '../../../schema/session/act.ts';
import type { Delegation } from './delegation.entity.ts';

/** An act whose signature is the session's key's, and whose time is now; its nonce is taken by its effect. */
export interface SignedAct {
  readonly session: Delegation;
  readonly request: ActRequest;
  readonly time: ActTime;
}
