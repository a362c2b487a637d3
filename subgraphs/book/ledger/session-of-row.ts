/** The session that the call of this row, `r`, was made under; the row of whoever was paid by that call names none. */
export const SESSION_OF_ROW = `(select c.delegation_hash from delegated_call c
  where c.task_id = r.task_id and c.agent_id = r.agent_id)`;
