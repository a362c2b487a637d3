/** Identifiers on the wire. `agent_id` is an integer, all others are opaque strings. */
declare const id: unique symbol;
export type TaskId = string & { readonly [id]: 'task' };
export type RefusalId = string & { readonly [id]: 'refusal' };
export type AssignmentId = string & { readonly [id]: 'assignment' };
export type DisputeId = string & { readonly [id]: 'dispute' };
export type EscrowId = string & { readonly [id]: 'escrow' };
export type ReconciliationId = string & { readonly [id]: 'reconciliation' };
export type ApprovalId = string & { readonly [id]: 'approval' };
export type RouterBookId = string & { readonly [id]: 'router_book' };
export type AgentId = number & { readonly [id]: 'agent' };

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

export function taskId(at_ms: number, random: Uint8Array): TaskId {
  return `task_${sortable(at_ms, random)}` as TaskId;
}

export function refusalId(at_ms: number, random: Uint8Array): RefusalId {
  return `refusal_${sortable(at_ms, random)}` as RefusalId;
}

export function assignmentId(at_ms: number, random: Uint8Array): AssignmentId {
  return `assignment_${sortable(at_ms, random)}` as AssignmentId;
}

export function disputeId(at_ms: number, random: Uint8Array): DisputeId {
  return `dispute_${sortable(at_ms, random)}` as DisputeId;
}

export function escrowId(at_ms: number, random: Uint8Array): EscrowId {
  return `escrow_${sortable(at_ms, random)}` as EscrowId;
}

export function reconciliationId(at_ms: number, random: Uint8Array): ReconciliationId {
  return `reconciliation_${sortable(at_ms, random)}` as ReconciliationId;
}

export function approvalId(at_ms: number, random: Uint8Array): ApprovalId {
  return `approval_${sortable(at_ms, random)}` as ApprovalId;
}

export function routerBookId(at_ms: number, random: Uint8Array): RouterBookId {
  return `rbook_${sortable(at_ms, random)}` as RouterBookId;
}

/** Id of the job of an escrow whose principal names none. */
export function escrowJobId(at_ms: number, random: Uint8Array): string {
  return `job_${sortable(at_ms, random)}`;
}

/** 48 bits of milliseconds and 80 random bits: sortable by time, not guessable, safe in a URL. */
function sortable(at_ms: number, random: Uint8Array): string {
  let value = BigInt(at_ms);
  for (const byte of random.subarray(0, 10)) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < 26; i++, value >>= 5n) text = CROCKFORD[Number(value & 31n)] + text;
  return text;
}

/** Time of the task: the milliseconds at the start of its id. */
export function taskMs(id: TaskId): number {
  let ms = 0;
  for (const digit of id.slice('task_'.length, 'task_'.length + 10)) ms = ms * 32 + CROCKFORD.indexOf(digit);
  return ms;
}

/** The task of an id of this service: its own id, or that of an answer (`chatcmpl-task_…`, `resp_task_…`). */
export function taskNamedBy(id: string): string {
  return /^[a-z]+[-_](task_[0-9a-z]{26})$/.exec(id)?.[1] ?? id;
}

export function agentId(value: number): AgentId {
  if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`not an agent id: ${value}`);
  return value as AgentId;
}
