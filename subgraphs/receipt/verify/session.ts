import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { unless } from './signed.ts';

/** A delegated session is named with its end, and by whom it acts: else nothing could be held against it. */
export function sessionFault({ iat, valid_after, session_expiry, delegation_hash, caller_binding }: JsonObject) {
  const { agent_pubkey } = isJsonObject(caller_binding) ? caller_binding : {};
  if (delegation_hash !== undefined && (session_expiry === undefined || agent_pubkey === undefined))
    return 'The receipt names a delegation without its session_expiry or its agent_pubkey.';
  if (valid_after === undefined && session_expiry === undefined) return null;
  const early = typeof valid_after === 'number' && !(typeof iat === 'number' && iat >= valid_after);
  const late = typeof session_expiry === 'number' && !(typeof iat === 'number' && iat <= session_expiry);
  return unless(!early && !late, 'The receipt was signed outside the session that it names.');
}
