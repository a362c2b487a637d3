import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';

/** What both payments of a job are for: the same request, whichever of them comes with it. */
export interface PayArgs extends JsonObject {
  /** The poster. */
  readonly agent_id: AgentId;
  readonly job_id: string;
}

/** The hash that the request names, 64 hex digits in lower case; null where it takes whatever is delivered, and has no such member. */
export function outputNamed({ output_sha256 }: PayArgs): string | null {
  return typeof output_sha256 === 'string' ? output_sha256 : null;
}
