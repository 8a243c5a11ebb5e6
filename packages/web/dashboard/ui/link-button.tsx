import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { buttonLook } from "../../shared/button.tsx";
import { Icon, type IconName } from "../../shared/icon.tsx";

interface LinkButtonProps {
  to: string;
  params?: Record<string, string>;
  search?: Record<string, string>;
  look?: "primary" | "plain";
  icon?: IconName;
  children: ReactNode;
}

/** A link that looks like a button: it goes somewhere and changes nothing. */
export function LinkButton({ to, params, search, look = "plain", icon, children }: LinkButtonProps) {
  return (
    <Link
      to={to}
      {...(params ? { params } : {})}
      {...(search ? { search } : {})}
      className={buttonLook({ look, size: "small" })}
    >
      {icon && <Icon name={icon} className="size-4" />}
      {children}
    </Link>
  );
}
