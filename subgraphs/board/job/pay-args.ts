import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';

/** What both payments of a job are for: the same request, whichever of them comes with it. */
export interface PayArgs extends JsonObject {
  /** The poster. */
  readonly agent_id: AgentId;
  readonly job_id: string;
}
