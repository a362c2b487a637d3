/** SQL for the hash of the delegated session that made the call of row `r`. Null for a row of the payee. */
export const SESSION_OF_ROW = `(select c.delegation_hash from delegated_call c
  where c.task_id = r.task_id and c.agent_id = r.agent_id)`;
