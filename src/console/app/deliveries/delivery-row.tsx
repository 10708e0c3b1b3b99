import { Component } from "preact";
import type { DeliverySummary } from "../../protocol/deliveries.ts";
import type { Column } from "./columns.tsx";
import type { ListFilter } from "./filter.ts";
import { deliveryHash, keyText } from "./links.ts";

interface RowProps {
  delivery: DeliverySummary;
  /** The number of the row in the whole table, in which the header is row 1. */
  rowIndex: number;
  columns: readonly Column[];
  filter: ListFilter;
  isOpen: boolean;
}

/** A row of the list. It renders again only if something in it has changed. */
export class DeliveryRow extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { delivery, rowIndex, columns, filter, isOpen } = this.props;
    return (
      next.delivery !== delivery ||
      next.rowIndex !== rowIndex ||
      next.columns !== columns ||
      next.filter !== filter ||
      next.isOpen !== isOpen
    );
  }

  render({ delivery, rowIndex, columns, filter, isOpen }: RowProps) {
    const hash = deliveryHash(delivery, filter);
    return (
      <tr
        class="delivery"
        data-key={keyText(delivery)}
        data-status={delivery.status}
        aria-rowindex={rowIndex}
        aria-current={isOpen || undefined}
      >
        {columns.map(({ id, isNumber, cell }) => (
          <td key={id} class={isNumber ? `cell-${id} number` : `cell-${id}`}>
            {cell(delivery, hash)}
          </td>
        ))}
      </tr>
    );
  }
}
